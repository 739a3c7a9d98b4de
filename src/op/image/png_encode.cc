// SPDX-License-Identifier: Apache-2.0
// PNG files through libpng. Its errors leave by longjmp, past no object with a destructor.
#include <png.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "op/image/codec.h"

namespace mxnet::image {
namespace {

struct Encoder {
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::string bytes;
  char message[256] = {};
  ~Encoder() { png_destroy_write_struct(&png, &info); }
};

void fail(png_structp png, png_const_charp text) {
  auto* encoder = static_cast<Encoder*>(png_get_error_ptr(png));
  std::copy_n(text, std::min(std::char_traits<char>::length(text), sizeof(encoder->message) - 1),
              encoder->message);
  png_longjmp(png, 1);
}
void warn(png_structp, png_const_charp) {}
void put(png_structp png, png_bytep data, png_size_t count) {
  static_cast<Encoder*>(png_get_io_ptr(png))
      ->bytes.append(reinterpret_cast<const char*>(data), count);
}
void flush(png_structp) {}

bool write(Encoder& encoder, png_bytep* rows, Size size, int channels, int effort) {
  if (setjmp(png_jmpbuf(encoder.png)) != 0) return false;
  png_set_write_fn(encoder.png, &encoder, put, flush);
  png_set_compression_level(encoder.png, effort);
  png_set_IHDR(encoder.png, encoder.info, static_cast<png_uint_32>(size.width),
               static_cast<png_uint_32>(size.height), 8,
               channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(encoder.png, encoder.info);
  png_write_image(encoder.png, rows);
  png_write_end(encoder.png, encoder.info);
  return true;
}

}  // namespace

std::string encode_png(const uint8_t* pixels, Size size, int channels, int effort) {
  Encoder encoder;
  encoder.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &encoder, fail, warn);
  encoder.info = encoder.png != nullptr ? png_create_info_struct(encoder.png) : nullptr;
  if (encoder.info == nullptr)
    throw Error(ErrorCode::kValue, "imencode", "given a PNG, and libpng cannot be started");
  std::vector<png_bytep> rows;
  for (int64_t y = 0; y < size.height; ++y)
    rows.push_back(const_cast<png_bytep>(pixels + y * size.width * channels));
  if (!write(encoder, rows.data(), size, channels, effort)) {
    throw Error(ErrorCode::kValue, "imencode",
                std::string("given an image that is no PNG: ") + encoder.message);
  }
  return std::move(encoder.bytes);
}
}  // namespace mxnet::image
