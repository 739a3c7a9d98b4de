// SPDX-License-Identifier: Apache-2.0
// The moment of computing for a sparse kernel: checks indices, lends scratch memory, and settles
// write, add and aliasing.
#pragma once
#include "exec/run_kernel.h"
#include "op/sparse_op.h"

namespace mxnet {

// As run_kernel, for arrays of which some are sparse; `call.kernel` is the operator's dense kernel.
// Throws Error(kValue) for indices that do not describe an array. REQUIRES: all on the CPU.
void run_sparse(const SparseOp& sparse, const KernelCall& call);

}  // namespace mxnet
