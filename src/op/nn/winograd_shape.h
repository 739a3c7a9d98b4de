// SPDX-License-Identifier: Apache-2.0
// What a Winograd convolution computes, and the sizes that all its loops work with.
#pragma once
#include <cstdint>

namespace mxnet {

// What to compute. "Blocked" is nChw16c with Isa::kAvx512, nChw8c with kAvx2:
// channels in groups of a vector, the last one filled up with zeros (written, and expected in
// `sum`); plain is NCHW. The map has height + 2 pad_y - kernel_y + 1 rows. "Narrow" is bfloat16, of
// blocked arrays; what is between is float32, or as `pairs` says.
struct WinogradDesc {
  int64_t batch = 0, channels = 0, filters = 0, height = 0, width = 0;
  int64_t pad_y = 0, pad_x = 0;  // less than the kernel, on both sides
  int64_t kernel_y = 3, kernel_x = 3;
  int tile = 4;  // pixels of the map that a tile has in a direction; one where the kernel is one
  bool src_blocked = false, dst_blocked = false;
  bool src_narrow = false, dst_narrow = false;
  // Whether transformed tiles and weights are rounded to bfloat16, of which the processor
  // multiplies pairs of channels (op/nn/winograd_pairs.h); sums are float32.
  bool pairs = false;
};

// F(tile_y x tile_x, kernel_y x kernel_x).
struct WinogradForm {
  int tile_y, tile_x, kernel_y, kernel_x;

  // Of a transformed tile: rows, columns, all.
  constexpr int points_y() const { return tile_y + kernel_y - 1; }
  constexpr int points_x() const { return tile_x + kernel_x - 1; }
  constexpr int points() const { return points_y() * points_x(); }

  constexpr bool is_3x3() const { return kernel_y == 3 && kernel_x == 3; }
  // Whether there are loops for bfloat16: beside layers in it other kernels compute directly.
  constexpr bool may_be_narrow() const { return is_3x3(); }
  // Whether products may be of bfloat16: larger tiles would lose six times what direct ones lose.
  constexpr bool may_multiply_pairs() const { return is_3x3() && tile_y == 2; }
};

// All that there are loops for.
inline constexpr WinogradForm kWinogradForms[] = {
    {2, 2, 3, 3}, {4, 4, 3, 3}, {2, 2, 5, 5}, {1, 4, 1, 3},
    {4, 1, 3, 1}, {1, 4, 1, 7}, {4, 1, 7, 1},
};
inline constexpr int kCountOfWinogradForms = sizeof(kWinogradForms) / sizeof(WinogradForm);
// The place of the one that multiplies pairs.
constexpr int winograd_pairs_form() {
  int form = 0;
  while (!kWinogradForms[form].may_multiply_pairs()) ++form;
  return form;
}
// The place of a description's form among them, -1 if it is none of them.
int winograd_form(const WinogradDesc& desc);

// Derived once from a description.
struct WinogradShape {
  int64_t batch, channels, filters, height, width, pad_y, pad_x;
  int64_t out_height, out_width;
  int form;                               // place in kWinogradForms
  int64_t tiles_y, tiles_x, tiles;        // of an image; of all of them
  int64_t channel_blocks, filter_blocks;  // vectors, the last one perhaps not full
  bool src_blocked, dst_blocked, src_narrow, dst_narrow, pairs;

  int64_t points() const { return kWinogradForms[form].points(); }
};

// Units that hold so many.
inline int64_t winograd_units(int64_t count, int64_t unit) { return (count + unit - 1) / unit; }
// Floats from one point to the next: an odd number of lines (of 64 bytes), so that the lines of all
// points of a tile fall into different sets of the caches.
inline int64_t winograd_point(int64_t floats) { return (winograd_units(floats, 16) | 1) * 16; }

// With vectors of `lanes` floats.
WinogradShape winograd_shape(const WinogradDesc& desc, int64_t lanes);

}  // namespace mxnet
