// SPDX-License-Identifier: Apache-2.0
// The gradient of maxima of windows of an image, for a block of channels that lie together.
#pragma once
#include <cstdint>

namespace mxnet {

// Planes, lines, columns: the last of them that there are, of others one. Plain arrays: the loops
// are compiled for each instruction set.
struct BlockWindows {
  int64_t image[3], map[3], kernel[3], stride[3], pad[3];
};

// Channels of a block of this CPU: a vector of float32, 8 at least.
int pool_block();

// image and dimage (pixels, channels of the block), dmap (places, channels of the block). The
// gradient goes to the first of equals, and nowhere from windows that see no pixel; dimage is
// overwritten. Any thread.
void pool_to_first_of_block(const BlockWindows& windows, const float* image, const float* dmap,
                            float* dimage);

}  // namespace mxnet
