// SPDX-License-Identifier: Apache-2.0
// The fused convolution by our own Winograd kernels, where that is faster than a direct one.
#pragma once
#include <optional>

#include "op/fused/conv.h"
#include "op/nn/winograd.h"

namespace mxnet {

// Whether weights are transformed once, or at each run, which must pay too.
enum class WinogradWeights : bool { kKept, kChanging };
// What to compute in blocked layouts, with the tile to choose; none where it is not possible or not
// worth while (MXNET_ONEDNN_WINOGRAD). `direct` is the type that a direct convolution would compute
// in: float32 or bfloat16.
std::optional<WinogradDesc> winograd_choice(const ConvGeometry& g, bool source_blocked,
                                            WinogradWeights weights,
                                            DType direct = DType::kFloat32);

// Null where it is not possible or not worth while. `source` is the layout that the data come in;
// `direct` as above.
PreparedKernelRef prepare_winograd(const FusedConvParams& params, const Signature& signature,
                                   const LayoutRef& source, DType direct);

}  // namespace mxnet
