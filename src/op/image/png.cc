// SPDX-License-Identifier: Apache-2.0
// PNG through libpng. Its errors leave by longjmp, past no object with a destructor.
#include "op/image/codec.h"

#include <png.h>

#include <algorithm>
#include <string>
#include <vector>

namespace mxnet::image {
namespace {

uint32_t word(const uint8_t* at) {
  return uint32_t{at[0]} << 24 | uint32_t{at[1]} << 16 | uint32_t{at[2]} << 8 | at[3];
}

struct Reader {
  Bytes left;
};
void take(png_structp png, png_bytep to, png_size_t count) {
  auto* reader = static_cast<Reader*>(png_get_io_ptr(png));
  if (count > reader->left.size()) png_error(png, "the file ends early");
  std::copy_n(reader->left.begin(), count, to);
  reader->left = reader->left.subspan(count);
}
void warn(png_structp, png_const_charp) {}

// What libpng's errors leave by longjmp may not have destructors to run.
struct Decoder {
  png_structp png = nullptr;
  png_infop info = nullptr;
  char message[256] = {};
  ~Decoder() { png_destroy_read_struct(&png, &info, nullptr); }
};
void fail(png_structp png, png_const_charp text) {
  auto* decoder = static_cast<Decoder*>(png_get_error_ptr(png));
  std::copy_n(text, std::min(std::char_traits<char>::length(text), sizeof(decoder->message) - 1),
              decoder->message);
  png_longjmp(png, 1);
}

// Transparency is dropped, deep channels keep their high byte, palettes become colours.
bool read(Decoder& decoder, Reader& reader, int channels, png_bytep* rows, std::size_t height,
          std::size_t row_bytes) {
  if (setjmp(png_jmpbuf(decoder.png)) != 0) return false;
  png_set_read_fn(decoder.png, &reader, take);
  png_read_info(decoder.png, decoder.info);
  const int type = png_get_color_type(decoder.png, decoder.info);
  png_set_strip_16(decoder.png);
  png_set_strip_alpha(decoder.png);
  if (type == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(decoder.png);
  if ((type & PNG_COLOR_MASK_COLOR) == 0) png_set_expand_gray_1_2_4_to_8(decoder.png);
  if (channels == 3 && (type & PNG_COLOR_MASK_COLOR) == 0) png_set_gray_to_rgb(decoder.png);
  if (channels == 1 && (type & PNG_COLOR_MASK_COLOR) != 0)
    png_set_rgb_to_gray(decoder.png, PNG_ERROR_ACTION_NONE, 0.299, 0.587);
  png_set_interlace_handling(decoder.png);
  png_read_update_info(decoder.png, decoder.info);
  if (png_get_rowbytes(decoder.png, decoder.info) != row_bytes ||
      png_get_image_height(decoder.png, decoder.info) != height)
    png_error(decoder.png, "rows that the header does not announce");
  png_read_image(decoder.png, rows);
  return true;
}

}  // namespace

void decode_png(Bytes bytes, int channels, const MakePixels& make) {
  constexpr std::size_t kHeader = 24;  // signature, length, "IHDR", width, height
  if (bytes.size() < kHeader) refuse("a PNG that ends early");
  const Size size{word(bytes.data() + 20), word(bytes.data() + 16)};
  expect_size(size);
  // A row is a byte and its pixels, of a bit at least, and deflate makes 1032 bytes of one at most:
  // a few bytes that announce more ask for no memory.
  constexpr std::size_t kDeflated = 1032;
  if (static_cast<uint64_t>(size.height * (1 + (size.width + 7) / 8)) > kDeflated * bytes.size())
    refuse("a PNG that ends early");
  Decoder decoder;
  decoder.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &decoder, fail, warn);
  decoder.info = decoder.png != nullptr ? png_create_info_struct(decoder.png) : nullptr;
  if (decoder.info == nullptr) refuse("a PNG, and libpng cannot be started");
  uint8_t* pixels = make(size);
  const auto row_bytes = static_cast<std::size_t>(size.width * channels);
  std::vector<png_bytep> rows(static_cast<std::size_t>(size.height));
  for (std::size_t y = 0; y < rows.size(); ++y) rows[y] = pixels + y * row_bytes;
  Reader reader{bytes};
  if (!read(decoder, reader, channels, rows.data(), rows.size(), row_bytes))
    refuse(std::string("a PNG that cannot be read: ") + decoder.message);
}
}  // namespace mxnet::image
