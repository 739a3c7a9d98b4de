// SPDX-License-Identifier: Apache-2.0
// The fused convolution by our own Winograd kernels, where that is faster than a direct one.
#pragma once
#include "op/fused/conv.h"

namespace mxnet {

// Null where it is not possible or not worth while. `source` is the layout that the data come in.
PreparedKernelRef prepare_winograd(const FusedConvParams& params, const Signature& signature,
                                   const LayoutRef& source);

}  // namespace mxnet
