// SPDX-License-Identifier: Apache-2.0
// The fused convolution by our own loops over lines.
#pragma once
#include "op/fused/conv.h"

namespace mxnet {

// Null where it is not possible or not worth while. Arrays are plain.
PreparedKernelRef prepare_conv_lines(const FusedConvParams& params, const Signature& signature);

}  // namespace mxnet
