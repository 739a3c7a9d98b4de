// SPDX-License-Identifier: Apache-2.0
// What a Winograd convolution computes, and the sizes that all its loops work with.
#pragma once
#include <cstdint>

namespace mxnet {

// What to compute. "Blocked" is nChw16c with Isa::kAvx512, nChw8c with kAvx2, nChw4c below:
// channels in groups of a vector, the last one filled up with zeros (written, and expected in
// `sum`); plain is NCHW. The map has height + 2 pad_y - 2 rows. "Narrow" is bfloat16, of blocked
// arrays; what is between is float32.
struct WinogradDesc {
  int64_t batch = 0, channels = 0, filters = 0, height = 0, width = 0;
  int64_t pad_y = 0, pad_x = 0;  // 0, 1 or 2, on both sides
  int tile = 4;                  // 4 or 2: pixels of the map that a tile has in a row
  bool src_blocked = false, dst_blocked = false;
  bool src_narrow = false, dst_narrow = false;
};

// Derived once from a description.
struct WinogradShape {
  int64_t batch, channels, filters, height, width, pad_y, pad_x;
  int64_t out_height, out_width;
  int64_t tile;                           // m of F(m x m, 3 x 3)
  int64_t tiles_y, tiles_x, tiles;        // of an image; of all of them
  int64_t channel_blocks, filter_blocks;  // vectors, the last one perhaps not full
  bool src_blocked, dst_blocked, src_narrow, dst_narrow;

  // Points of a transformed tile.
  int64_t points() const { return (tile + 2) * (tile + 2); }
};

// Units that hold so many.
inline int64_t winograd_units(int64_t count, int64_t unit) { return (count + unit - 1) / unit; }
// Floats from one point to the next: an odd number of lines (of 64 bytes), so that the lines of all
// points of a tile fall into different sets of the caches.
inline int64_t winograd_point(int64_t floats) { return (winograd_units(floats, 16) | 1) * 16; }

// With vectors of `lanes` floats.
WinogradShape winograd_shape(const WinogradDesc& desc, int64_t lanes);

}  // namespace mxnet
