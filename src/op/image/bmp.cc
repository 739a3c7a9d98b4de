// SPDX-License-Identifier: Apache-2.0
// BMP: rows of indices into a palette, or of blue, green and red, from the bottom up unless the
// height is negative. Those with compressed rows are refused.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "op/image/codec.h"

namespace mxnet::image {
namespace {

using Colour = std::array<uint8_t, 3>;  // red, green, blue

uint32_t number(Bytes bytes, std::size_t at, std::size_t count) {
  if (bytes.size() < at + count) refuse("a BMP that ends early");
  uint32_t value = 0;
  for (std::size_t i = 0; i < count; ++i) value |= uint32_t{bytes[at + i]} << 8 * i;
  return value;
}

// What the headers say. The fields stand where the first 26 or the first 54 bytes of a file have
// them: the headers that came later begin with the same ones.
struct Layout {
  Size size{};
  bool top_down = false;
  std::size_t bits = 0;    // of a pixel
  int green_bits = 5;      // where a pixel has 16
  std::size_t pixels = 0;  // the place of the first row
  std::vector<Colour> palette;
};

constexpr std::size_t kFileHeader = 14;
constexpr uint32_t kOldest = 12;  // bytes of the oldest header, without compression and masks
constexpr uint32_t kPlain = 0, kMasks = 3;

// Only what lies in memory anyway may be given as masks.
void read_masks(Bytes bytes, Layout* layout) {
  const std::array<uint32_t, 3> masks{number(bytes, 54, 4), number(bytes, 58, 4),
                                      number(bytes, 62, 4)};
  const bool wide = layout->bits == 32;
  layout->green_bits = !wide && masks[1] == 0x7e0 ? 6 : 5;
  const std::array<uint32_t, 3> same = wide ? std::array<uint32_t, 3>{0xff0000, 0xff00, 0xff}
                                       : layout->green_bits == 6
                                           ? std::array<uint32_t, 3>{0xf800, 0x7e0, 0x1f}
                                           : std::array<uint32_t, 3>{0x7c00, 0x3e0, 0x1f};
  if (masks != same) refuse("a BMP whose colours are in an unusual order");
}

Layout read_layout(Bytes bytes) {
  Layout layout;
  const uint32_t header = number(bytes, kFileHeader, 4);
  const bool oldest = header == kOldest;
  if (!oldest && header < 40) refuse("a BMP with a header of " + std::to_string(header) + " bytes");
  const std::size_t length = oldest ? 2 : 4;
  const auto height = static_cast<int32_t>(number(bytes, 18 + length, length));
  layout.size = {std::abs(int64_t{height}), number(bytes, 18, length)};
  layout.top_down = height < 0;
  expect_size(layout.size);
  layout.bits = number(bytes, oldest ? 24 : 28, 2);
  const uint32_t packing = oldest ? kPlain : number(bytes, 30, 4);
  const std::size_t bits = layout.bits;
  const bool known = bits == 1 || bits == 4 || bits == 8 || bits == 16 || bits == 24 || bits == 32;
  if (!known || (packing != kPlain && (packing != kMasks || bits % 16 != 0)))
    refuse("a BMP of " + std::to_string(bits) + " bits and compression " + std::to_string(packing));
  if (packing == kMasks) read_masks(bytes, &layout);
  layout.pixels = number(bytes, 10, 4);
  if (bits <= 8) {
    const uint32_t used = oldest ? 0 : number(bytes, 46, 4);
    const std::size_t count = used == 0 ? std::size_t{1} << bits : std::min<uint32_t>(used, 256);
    const std::size_t first = kFileHeader + header, stride = oldest ? 3 : 4;
    number(bytes, first + stride * count - 1, 1);  // all of it is there
    for (std::size_t i = first; i < first + stride * count; i += stride)
      layout.palette.push_back({bytes[i + 2], bytes[i + 1], bytes[i]});
    layout.palette.resize(256);  // any index has a colour
  }
  return layout;
}

Colour colour_at(const Layout& layout, const uint8_t* row, std::size_t x) {
  switch (layout.bits) {
    case 16: {
      const int value = row[2 * x] | row[2 * x + 1] << 8;
      const int green = layout.green_bits;
      return {static_cast<uint8_t>(value >> (5 + green) << 3),
              static_cast<uint8_t>(value >> 5 << (8 - green)), static_cast<uint8_t>(value << 3)};
    }
    case 24:
    case 32: {
      const uint8_t* pixel = row + x * layout.bits / 8;
      return {pixel[2], pixel[1], pixel[0]};
    }
    default: {
      const std::size_t bit = x * layout.bits;
      const int shift = static_cast<int>(8 - layout.bits - bit % 8);
      return layout.palette[row[bit / 8] >> shift & ((1 << layout.bits) - 1)];
    }
  }
}

uint8_t grey_of(const Colour& colour) {  // 0.299, 0.587 and 0.114 of 2^14
  return static_cast<uint8_t>((colour[0] * 4899 + colour[1] * 9617 + colour[2] * 1868 + 8192) >>
                              14);
}

}  // namespace

void decode_bmp(Bytes bytes, int channels, const MakePixels& make) {
  const Layout layout = read_layout(bytes);
  const auto width = static_cast<std::size_t>(layout.size.width);
  const auto height = static_cast<std::size_t>(layout.size.height);
  const std::size_t stride = (width * layout.bits + 31) / 32 * 4;  // rows begin at whole words
  if (layout.pixels > bytes.size() || (bytes.size() - layout.pixels) / stride < height)
    refuse("a BMP that ends early");
  uint8_t* to = make(layout.size);
  for (std::size_t y = 0; y < height; ++y) {
    const uint8_t* row =
        bytes.data() + layout.pixels + (layout.top_down ? y : height - 1 - y) * stride;
    for (std::size_t x = 0; x < width; ++x) {
      const Colour colour = colour_at(layout, row, x);
      if (channels == 1) {
        *to++ = grey_of(colour);
      } else {
        to = std::copy(colour.begin(), colour.end(), to);
      }
    }
  }
}

}  // namespace mxnet::image
