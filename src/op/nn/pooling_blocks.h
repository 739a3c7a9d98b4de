// SPDX-License-Identifier: Apache-2.0
// The gradient of maxima of windows of an image, for a block of channels that lie together.
#pragma once
#include <cstdint>

namespace mxnet {

// Lines come first, then columns. Plain arrays: the loops are compiled for each instruction set.
struct PlaneWindows {
  int64_t image[2], map[2], kernel[2], stride[2], pad[2];
};

// Channels of a block of this CPU: a vector of float32, 8 at least.
int pool_block();

// image and dimage (pixels, channels of the block), dmap (places, channels of the block). The
// gradient goes to the first of equals, and nowhere from windows that see no pixel; dimage is
// overwritten. Any thread.
void pool_to_first_of_block(const PlaneWindows& windows, const float* image, const float* dmap,
                            float* dimage);

}  // namespace mxnet
