// SPDX-License-Identifier: Apache-2.0
// Operators with sparse arrays of GPUs: kernels for these are the CPU's, so that the call runs in
// host memory, on copies.
#pragma once
#include "exec/invoke.h"

namespace mxnet {

// As invoke(); the results lie where the arrays do. REQUIRES: all arrays on the GPU `device`.
void invoke_sparse_on_host(const OpDef& op, const ParamsPtr& params, InputRefs inputs,
                           OutputRefs outputs, Device device, const InvokeOptions& options);

}  // namespace mxnet
