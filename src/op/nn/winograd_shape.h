// SPDX-License-Identifier: Apache-2.0
// The sizes that all loops of a Winograd convolution work with, derived once from its description.
#pragma once
#include <cstdint>

namespace mxnet {

struct WinogradShape {
  int64_t batch, channels, filters, height, width, pad_y, pad_x;
  int64_t out_height, out_width;
  int64_t tile;                           // m of F(m x m, 3 x 3)
  int64_t tiles_y, tiles_x, tiles;        // of an image; of all of them
  int64_t channel_blocks, filter_blocks;  // vectors, the last one perhaps not full
  bool src_blocked, dst_blocked;

  // Points of a transformed tile.
  int64_t points() const { return (tile + 2) * (tile + 2); }
};

}  // namespace mxnet
