// SPDX-License-Identifier: Apache-2.0
// Geometry of images in memory.
#include "io/image.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "op/image/resample.h"

namespace mxnet::io {
namespace {

void expect_positive(int64_t height, int64_t width) {
  if (height >= 1 && width >= 1) return;
  throw Error(ErrorCode::kValue, "image",
              fmt::format("given a size of {} x {}, expected at least one pixel", height, width));
}

}  // namespace

Image resized(const Image& image, int64_t height, int64_t width, int interp, int random_choice) {
  expect_positive(height, width);
  if (height == image.height && width == image.width) return image;
  const bool shrinks = height <= image.height && width <= image.width;
  if (interp == 9) interp = shrinks ? 3 : 2;
  if (interp == 10) interp = random_choice;
  const auto how = static_cast<image::Interpolation>(interp);
  Image result;
  result.resize(height, width, image.channels);
  if (image::resample_bytes(how, image.pixels.data(), image.channels, image.height, image.width,
                            height, width, result.pixels.data()))
    return result;
  image::resample(
      image.pixels.data(), image.channels, image::make_taps(how, image.height, height, shrinks),
      image::make_taps(how, image.width, width, shrinks), image.width, result.pixels.data());
  return result;
}

Image cropped(const Image& image, int64_t top, int64_t left, int64_t height, int64_t width) {
  expect_positive(height, width);
  MX_ASSERT(top >= 0 && left >= 0 && top + height <= image.height && left + width <= image.width);
  Image result;
  result.resize(height, width, image.channels);
  const auto line = static_cast<std::size_t>(width * image.channels);
  for (int64_t y = 0; y < height; ++y)
    std::memcpy(result.row(y), image.row(top + y) + left * image.channels, line);
  return result;
}

Image bordered(const Image& image, int64_t top, int64_t bottom, int64_t left, int64_t right,
               uint8_t value) {
  Image result;
  result.resize(image.height + top + bottom, image.width + left + right, image.channels);
  std::fill(result.pixels.begin(), result.pixels.end(), value);
  const auto line = static_cast<std::size_t>(image.width * image.channels);
  for (int64_t y = 0; y < image.height; ++y)
    std::memcpy(result.row(top + y) + left * image.channels, image.row(y), line);
  return result;
}

void mirror(Image* image) {
  for (int64_t y = 0; y < image->height; ++y) {
    uint8_t *left = image->row(y), *right = left + (image->width - 1) * image->channels;
    for (; left < right; left += image->channels, right -= image->channels)
      std::swap_ranges(left, left + image->channels, right);
  }
}

Image warped(const Image& image, const Affine& map, int64_t height, int64_t width, uint8_t fill) {
  expect_positive(height, width);
  Image result;
  result.resize(height, width, image.channels);
  const auto at = [&image, fill](int64_t y, int64_t x, int64_t c) -> double {
    const bool inside = y >= 0 && x >= 0 && y < image.height && x < image.width;
    return inside ? image.row(y)[x * image.channels + c] : fill;
  };
  for (int64_t y = 0; y < height; ++y) {
    uint8_t* out = result.row(y);
    for (int64_t x = 0; x < width; ++x) {
      const auto dx = static_cast<double>(x), dy = static_cast<double>(y);
      const double from_x = map.a * dx + map.b * dy + map.c;
      const double from_y = map.d * dx + map.e * dy + map.f;
      const double left = std::floor(from_x), top = std::floor(from_y);
      const double u = from_x - left, v = from_y - top;
      const auto l = static_cast<int64_t>(left), t = static_cast<int64_t>(top);
      for (int64_t c = 0; c < image.channels; ++c) {
        const double above = at(t, l, c) * (1 - u) + at(t, l + 1, c) * u;
        const double below = at(t + 1, l, c) * (1 - u) + at(t + 1, l + 1, c) * u;
        *out++ = static_cast<uint8_t>(std::lround(above * (1 - v) + below * v));
      }
    }
  }
  return result;
}

}  // namespace mxnet::io
