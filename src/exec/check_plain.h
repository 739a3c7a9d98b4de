// SPDX-License-Identifier: Apache-2.0
// MXNET_ONEDNN_DEBUG: what a kernel of oneDNN wrote, beside what the plain kernel makes of the same
// inputs. One place for all operators.
#pragma once
#include "exec/run_kernel.h"

namespace mxnet {

// Whether this run shall be compared: the variable is set, the kernel is one of oneDNN, and a plain
// kernel can run again on the same inputs (none was written, no random numbers were drawn).
bool checks_plain(const KernelCall& call, std::span<const Tensor> in, std::span<const Tensor> out);

// Throws Error(kInternal) naming operator, output, position and both numbers where they differ by
// more than rounding explains. REQUIRES: checks_plain(), after the run.
void check_plain(const KernelCall& call, std::span<const Tensor> in, std::span<const Tensor> out,
                 const RunContext& context, KernelResources& resources);

}  // namespace mxnet
