// SPDX-License-Identifier: Apache-2.0
// Compressed images into pixels. Whatever the bytes are, the worst that happens is an Error.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace mxnet::image {

using Bytes = std::span<const uint8_t>;

// Pixels of one image: `channels` is 1 (grey) or 3 (red, green, blue).
struct Size {
  int64_t height, width;
};
// Called once, when the size is known; returns memory for height * width * channels bytes.
using MakePixels = std::function<uint8_t*(Size)>;

void decode_png(Bytes bytes, int channels, const MakePixels& make);
void decode_jpeg(Bytes bytes, int channels, const MakePixels& make);
void decode_bmp(Bytes bytes, int channels, const MakePixels& make);

// Any of them, told apart by its first bytes.
void decode_image(Bytes bytes, int channels, const MakePixels& make);

// A uint8 image of 1 or 3 channels into the bytes of a file.
std::string encode_jpeg(const uint8_t* pixels, Size size, int channels, int quality);
std::string encode_png(const uint8_t* pixels, Size size, int channels, int effort);

// More than this is refused, as no file of an honest size holds it: 2^30 pixels.
constexpr int64_t kMostPixels = int64_t{1} << 30;
[[noreturn]] void refuse(const std::string& reason);
inline void expect_size(Size size) {
  if (size.height < 1 || size.width < 1 || size.height > kMostPixels / size.width)
    refuse("an image of " + std::to_string(size.height) + " x " + std::to_string(size.width));
}

}  // namespace mxnet::image
