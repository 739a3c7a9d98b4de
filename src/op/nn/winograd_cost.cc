// SPDX-License-Identifier: Apache-2.0
// Which convolution is likely the fastest for a layer, from counts and rates alone: nothing is
// timed, so the same layer is always computed in the same way. docs/winograd.md compares it with
// measurements.
#include "base/error.h"
#include "op/nn/winograd.h"

namespace mxnet {
namespace {

// A core with two 512-bit multipliers. With half of them the products of both take twice as long
// and memory does not, so that Winograd gains more than is assumed here.
constexpr double kFlops = 180e9;          // products, direct or transformed
constexpr double kWeightBytes = 45e9;     // weights that no first- or second-level cache holds
constexpr double kTransformBytes = 30e9;  // transformed tiles, written or read
// What a direct convolution must be slower by, for what the model leaves out.
constexpr double kMargin = 1.1;
// Channels below which the transforms move more than the products compute.
constexpr int kLanes = 16;

double seconds(const WinogradShape& s) {
  const auto points = static_cast<double>(s.points()), tiles = static_cast<double>(s.tiles);
  const double weights = points * static_cast<double>(s.channels * s.filters);
  const auto vectors = static_cast<double>(s.channel_blocks + s.filter_blocks);
  return 2 * weights * tiles / kFlops + 4 * weights / kWeightBytes +
         4 * kLanes * vectors * points * tiles / kTransformBytes;
}

}  // namespace

int WinogradConv::likely_tile(WinogradDesc desc) {
  MX_ASSERT(supported(desc));
  const WinogradShape map = winograd_shape(desc, kLanes);
  const double weights = 9 * static_cast<double>(map.channels * map.filters);
  const auto pixels = static_cast<double>(map.batch * map.out_height * map.out_width);
  double best = (2 * weights * pixels / kFlops + 4 * weights / kWeightBytes) / kMargin;
  int tile = 0;
  for (const int candidate : {4, 2}) {
    desc.tile = candidate;
    const double time = seconds(winograd_shape(desc, kLanes));
    if (time < best) {
      best = time;
      tile = candidate;
    }
  }
  return tile;
}

}  // namespace mxnet
