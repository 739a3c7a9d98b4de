// SPDX-License-Identifier: Apache-2.0
// An image in memory, between decoder and batch.
#pragma once
#include <cstdint>
#include <vector>

namespace mxnet::io {

struct Image {
  int64_t height = 0, width = 0, channels = 0;
  std::vector<uint8_t> pixels;  // (height, width, channels)

  void resize(int64_t new_height, int64_t new_width, int64_t new_channels) {
    height = new_height;
    width = new_width;
    channels = new_channels;
    pixels.resize(static_cast<std::size_t>(height * width * channels));
  }
  uint8_t* row(int64_t y) { return pixels.data() + y * width * channels; }
  const uint8_t* row(int64_t y) const { return pixels.data() + y * width * channels; }
};

// All of these make a new image and throw Error(kValue) for sizes below 1.

// `interp` as in the parameter inter_method: 0 nearest, 1 linear, 2 cubic, 3 area, 4 Lanczos, 9
// area or cubic (whichever suits), 10 one of 0 to 4 at random, which `random_choice` says.
Image resized(const Image& image, int64_t height, int64_t width, int interp, int random_choice);
// REQUIRES: the box lies inside.
Image cropped(const Image& image, int64_t top, int64_t left, int64_t height, int64_t width);
// `image` with a border of one value around it.
Image bordered(const Image& image, int64_t top, int64_t bottom, int64_t left, int64_t right,
               uint8_t value);
void mirror(Image* image);

// (x, y) of a new image comes from (a x + b y + c, d x + e y + f) of the old one, interpolated
// between four pixels; what lies outside is `fill`.
struct Affine {
  double a = 1, b = 0, c = 0, d = 0, e = 1, f = 0;
};
Image warped(const Image& image, const Affine& to_old, int64_t height, int64_t width, uint8_t fill);

}  // namespace mxnet::io
