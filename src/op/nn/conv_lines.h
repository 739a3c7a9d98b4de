// SPDX-License-Identifier: Apache-2.0
// Convolutions of few channels a group on plain arrays of float32: depthwise ones over one or three
// dimensions, and groups that fill no block of channels, for which oneDNN has but columns of the
// image in small products of matrices. Lines of the map are summed up in registers, from lines of a
// copy of the group's image that has its zeros.
#pragma once
#include <algorithm>

#include "op/kernel.h"
#include "op/products/layer_post.h"
#include "op/windows/conv_geometry.h"

namespace mxnet {

// Whether there are loops for this, and they are faster where oneDNN multiplies columns.
bool suits_lines(const ConvGeometry& g);

// map = what `post` makes of image * weight; `post.sum` may be the map. Each number of the map is
// summed up in the order of the weights, so that the number of threads does not matter.
void convolve_lines(const ConvGeometry& g, const float* image, const float* weight,
                    const LayerPost& post, float* map, const KernelContext& context);

// How the copy lies: of each channel its planes, of these the lines, of a line every stride-th
// pixel together, so that neighbours in the map see neighbours in it.
struct LinesCopy {
  // Lines that are computed together where there is more than one: at the end more than there are,
  // as are numbers of a line, and the copy has what those read too.
  static constexpr int64_t kLines = 4;

  explicit LinesCopy(const ConvGeometry& g);

  int64_t planes_of(int64_t planes) const { return (planes - 1) * stride_z + reach_z; }
  int64_t lines_of(int64_t lines) const {
    return ((lines + together - 1) / together * together - 1) * stride_y + reach_y;
  }
  // Numbers of a channel's copy.
  int64_t size(int64_t planes, int64_t lines) const {
    return planes_of(planes) * lines_of(lines) * line;
  }

  int64_t together;
  int64_t stride_z, reach_z, stride_y, reach_y;
  int64_t part, line;     // numbers from each stride-th pixel to the next, and of a line
  int64_t planes, lines;  // of the map, that are computed from one copy
};

}  // namespace mxnet
