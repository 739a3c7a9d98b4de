// SPDX-License-Identifier: Apache-2.0
// The fused convolution by our own Winograd kernels, where that is faster than a direct one.
#pragma once
#include <cstdint>
#include <optional>

#include "op/fused/conv.h"
#include "op/nn/winograd.h"

namespace mxnet {

// Whether weights are transformed once, or at each run, which must pay too.
enum class WinogradWeights : bool { kKept, kChanging };
// What a direct convolution would compute with: vectors of float32, of bfloat16 at twice the rate,
// or matrix units.
enum class DirectUnits : uint8_t { kFloat32, kBFloat16, kBFloat16Tiles };
// The description with another tile: where the direct convolution computes in bfloat16, with
// products of it too if there are loops for them.
WinogradDesc winograd_with_tile(WinogradDesc desc, int tile, DType direct);
// What to compute in blocked layouts, with the tile to choose; none where it is not possible or not
// worth while (MXNET_ONEDNN_WINOGRAD).
std::optional<WinogradDesc> winograd_choice(const ConvGeometry& g, bool source_blocked,
                                            WinogradWeights weights,
                                            DirectUnits direct = DirectUnits::kFloat32);

// Null where it is not possible or not worth while. `source` is the layout that the data come in.
PreparedKernelRef prepare_winograd(const FusedConvParams& params, const Signature& signature,
                                   const LayoutRef& source, DirectUnits direct);

}  // namespace mxnet
