// SPDX-License-Identifier: Apache-2.0
// The loops of a Winograd convolution on one thread, compiled for AVX2 and for AVX-512.
//
// Transformed data lie as [point][group of channels][tile][channel of the group], transformed
// weights as [panel of filters][point][channel][filter of the panel]: a row of a product is a line
// of memory, and all its steps are at constant distances.
#pragma once
#include <cstdint>

#include "op/nn/winograd.h"

namespace mxnet {

struct WinogradLoops {
  int lanes;    // floats of a vector: channels of a group
  int vectors;  // of a panel
  int rows;     // tiles that a product takes at once

  // Tiles [first, first + count) of group `block` of the source, to `to`: points are `point` floats
  // apart. By place of the form in kWinogradForms, as what follows by form.
  void (*transform[kCountOfWinogradForms])(const WinogradShape& shape, const void* src,
                                           int64_t block, int64_t first, int64_t count, float* to,
                                           int64_t point);
  // Rounded to bfloat16, of the form that multiplies pairs; distances are of floats all the same.
  // Null where no processor has the products.
  void (*transform_to_pairs)(const WinogradShape& shape, const void* src, int64_t block,
                             int64_t first, int64_t count, float* to, int64_t point);
  // output = input weights at one point, for `count` tiles and `vectors` groups of filters.
  void (*multiply)(int64_t count, int64_t channels, int64_t vectors, const float* input,
                   int64_t input_line, const float* weights, float* output, int64_t output_line);
  // The inverse transform of group `block` of filters, and what follows the convolution.
  void (*restore[kCountOfWinogradForms])(const WinogradShape& shape, const float* from,
                                         int64_t point, int64_t block, int64_t first, int64_t count,
                                         const LayerPost& post, void* dst);
  // Transforms `count` kernels, at most a vector of them, `step` floats apart and turned by half a
  // circle if `turned`; points are `point` floats apart, and the rest of their vector is zeros.
  void (*weights[kCountOfWinogradForms])(int64_t count, const float* from, int64_t step,
                                         bool turned, float* to, int64_t point);

  // The gradient of the weights, with tiles of 4. Tiles of group `block` of the map's gradient, and
  // to `bias` the sum of the pixels of all tiles so far.
  void (*transform_map)(const WinogradShape& shape, const float* dmap, int64_t block, int64_t first,
                        int64_t count, float* to, int64_t point, float* bias);
  // sums (panel of filters, channel, filter of the panel) = or += the products of all pairs at one
  // point, over the tiles. `channels` and `filters` count groups.
  void (*accumulate)(int64_t tiles, int64_t channels, int64_t filters, const float* image,
                     int64_t image_line, const float* map, int64_t map_line, float* sums, bool add);
  // `count` kernels, at most a vector of them, `step` floats apart, from sums whose points are
  // `point` floats apart.
  void (*gradient)(int64_t count, const float* sums, int64_t point, float* to, int64_t step);
};

// Null for the baseline, where it was not measured and no plan chooses it.
// REQUIRES WinogradConv::has(isa).
const WinogradLoops* winograd_loops(WinogradConv::Isa isa);

}  // namespace mxnet
