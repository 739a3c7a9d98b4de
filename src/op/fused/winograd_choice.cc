// SPDX-License-Identifier: Apache-2.0
// Which convolutions run by Winograd's method.
#include <algorithm>

#include "base/config.h"
#include "op/fused/conv_trials.h"
#include "op/fused/winograd.h"

namespace mxnet {
namespace {

bool is_dense_step_1(const ConvGeometry& g) {
  const auto ones = [](const ConvGeometry::Sizes& sizes) { return sizes[1] == 1 && sizes[2] == 1; };
  return g.spatial == 2 && g.groups == 1 && ones(g.stride) && ones(g.dilate) &&
         g.pad_behind(1) == g.pad[1] && g.pad_behind(2) == g.pad[2];
}

// Few tiles do not pay for reading weights that are four times as large, or for transforming them.
int64_t least_tiles(WinogradWeights weights) {
  return weights == WinogradWeights::kChanging ? 32 : 16;
}

// Transforms cost the more the fewer channels share them, and tiles that lie across the border
// compute what nobody wants.
bool worth_while(const ConvGeometry& g, const WinogradForm& form, int64_t least_tiles) {
  constexpr int64_t kFewChannels = 32;
  const int64_t rows = winograd_units(g.map[1], form.tile_y),
                columns = winograd_units(g.map[2], form.tile_x);
  const double used = static_cast<double>(g.map[1] * g.map[2]) /
                      static_cast<double>(rows * columns * form.tile_y * form.tile_x);
  return std::min(g.image_channels, g.map_channels) >= kFewChannels && used >= 0.6 &&
         g.batch * rows * columns >= least_tiles;
}

}  // namespace

WinogradDesc winograd_with_tile(WinogradDesc desc, int tile, DType direct) {
  desc.tile = tile;
  desc.pairs = direct == DType::kBFloat16;
  desc.pairs = desc.pairs && WinogradConv::supported(desc);
  return desc;
}

std::optional<WinogradDesc> winograd_choice(const ConvGeometry& g, bool source_blocked,
                                            WinogradWeights weights, DirectUnits direct) {
  const std::string& who = config().onednn.winograd;
  if (who == "off" || !is_dense_step_1(g)) return std::nullopt;
  // A quarter of the multiplications does not make up for a fifteenth of the rate.
  if (direct == DirectUnits::kBFloat16Tiles) return std::nullopt;
  WinogradDesc desc{.batch = g.batch,
                    .channels = g.image_channels,
                    .filters = g.map_channels,
                    .height = g.image[1],
                    .width = g.image[2],
                    .pad_y = g.pad[1],
                    .pad_x = g.pad[2],
                    .kernel_y = g.kernel[1],
                    .kernel_x = g.kernel[2],
                    .tile = g.kernel[1] == 5 ? 2 : 4,
                    .src_blocked = source_blocked,
                    .dst_blocked = true};
  if (!WinogradConv::supported(desc)) return std::nullopt;
  // Other kernels than 3x3 were measured in float32, with weights that are kept, and have no loops
  // for bfloat16.
  const WinogradForm& form = kWinogradForms[winograd_form(desc)];
  const bool known = weights == WinogradWeights::kKept && direct == DirectUnits::kFloat32;
  if (!form.is_3x3() && !known) return std::nullopt;
  const DType type = direct == DirectUnits::kFloat32 ? DType::kFloat32 : DType::kBFloat16;
  // Trials are of layers whose weights are kept; and what is timed may turn out otherwise next
  // time.
  const bool measures =
      who == "measure" && weights == WinogradWeights::kKept && !config().cuda.enforce_determinism;
  if (measures) {
    const int tile = fastest_tile(g, desc, type);
    return tile == 0 ? std::nullopt : std::optional(winograd_with_tile(desc, tile, type));
  }
  const int64_t least = least_tiles(weights);
  // Four multiplications for nine of a direct convolution, of the same rate, whatever the map is;
  // large tiles have one for four, at half the rate and with weights of 4.5 times the bytes.
  const WinogradDesc small = winograd_with_tile(desc, 2, type);
  if (small.pairs && worth_while(g, kWinogradForms[winograd_form(small)], least)) return small;
  if (worth_while(g, form, least)) return desc;
  if (!form.is_3x3()) return std::nullopt;
  // Small tiles where large ones would be few: their weights are less than half as large, and read
  // once a run. Transforming them at each run would cost what they gain; and in float32 they need 4
  // multiplications for 9, of which bfloat16 computes twice as many in the same time. Four are
  // enough, so that the last layers of a network have one form of their weights for all small
  // images.
  constexpr int64_t kFewSmallTiles = 4;
  if (weights == WinogradWeights::kChanging || direct == DirectUnits::kBFloat16)
    return std::nullopt;
  return worth_while(g, kWinogradForms[winograd_form(small)], kFewSmallTiles) ? std::optional(small)
                                                                              : std::nullopt;
}

}  // namespace mxnet
