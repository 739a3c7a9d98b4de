// SPDX-License-Identifier: Apache-2.0
// The moment of computing: picks a kernel, lends it tensors and scratch memory, and settles write,
// add and aliasing so that kernels only ever write. Shared by eager calls and compiled plans.
#pragma once
#include <span>

#include "exec/invoke.h"

namespace mxnet {

// The first kernel of `op` that accepts. Throws Error(kType) naming the types where none does.
const KernelEntry& choose_kernel(const OpDef& op, const void* params, std::span<const ArrayType> in,
                                 std::span<const ArrayType> out, Device device, bool training);

// Runs it on this thread. `requests` is empty (all kWrite) or one per output. REQUIRES: inside an
// engine operation that declared all arrays (or after a wait on them).
void run_kernel(const OpDef& op, const KernelEntry& kernel, const void* params,
                std::span<const NDArray> in, std::span<const NDArray> out,
                std::span<const Request> requests, bool training, const RunContext& context);

}  // namespace mxnet
