// SPDX-License-Identifier: Apache-2.0
// The fused fully connected layer in fewer multiplications (op/products/strassen_product.h).
#pragma once
#include "op/fused/dense.h"

namespace mxnet {

// The layer of float32 whose sizes are worth it, which runs as `plain` where the numbers of a run
// do not allow it; else, or where the configuration does not want it, `plain`.
PreparedKernelRef with_strassen(const FusedDenseParams& params, const DenseSizes& sizes,
                                PreparedKernelRef plain);

}  // namespace mxnet
