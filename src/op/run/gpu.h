// SPDX-License-Identifier: Apache-2.0
// Kernels on a real GPU. There are two kinds, and both have the signature of a CPU kernel: those
// that the plug-in brings and that are found by the operator's name, and portable ones, the CPU's
// own functions where these do nothing to elements but call primitives (copy_strided, run_binary,
// reduce_to ...) that know both kinds of memory. docs/devices.md tells which to write.
#pragma once
#include <initializer_list>
#include <string_view>

#include "op/op_def.h"

namespace mxnet {

struct GpuTable;

// What the loaded plug-in computes with; null without one, and where GPUs are simulated: kernels of
// that device are the CPU's.
const GpuTable* gpu_table() noexcept;
// The same for a call: null if it runs on the CPU.
inline const GpuTable* gpu_table(const KernelContext& context) {
  return context.device().is_gpu() ? gpu_table() : nullptr;
}

// Declares that the operator's CPU kernel may be given memory of a GPU: it looks at no element
// itself. Called by the file that defines the operator, before main.
void mark_portable(std::string_view op);
// For initializers: true.
bool mark_portable(std::initializer_list<std::string_view> ops);
bool is_portable(const OpDef& op);

// The kernel of `op` on the loaded plug-in's GPUs; null where it has none.
const KernelEntry* gpu_kernel(const OpDef& op);

}  // namespace mxnet
