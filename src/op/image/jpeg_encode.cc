// SPDX-License-Identifier: Apache-2.0
// JPEG files through libjpeg. Its errors leave by longjmp, past no object with a destructor.
#include <csetjmp>
#include <cstdio>  // jpeglib.h wants it
#include <cstdlib>
#include <string>

#include <jpeglib.h>

#include "base/error.h"
#include "op/image/codec.h"

namespace mxnet::image {
namespace {

struct Encoder {
  jpeg_compress_struct info;
  jpeg_error_mgr errors;
  std::jmp_buf escape;
  char message[JMSG_LENGTH_MAX];
  unsigned char* bytes;
  unsigned long size;
};

void fail(j_common_ptr info) {
  auto* encoder = static_cast<Encoder*>(info->client_data);
  info->err->format_message(info, encoder->message);
  std::longjmp(encoder->escape, 1);
}

bool write(Encoder& encoder, const uint8_t* pixels, Size size, int channels, int quality) {
  if (setjmp(encoder.escape) != 0) return false;
  jpeg_create_compress(&encoder.info);
  jpeg_mem_dest(&encoder.info, &encoder.bytes, &encoder.size);
  encoder.info.image_height = static_cast<JDIMENSION>(size.height);
  encoder.info.image_width = static_cast<JDIMENSION>(size.width);
  encoder.info.input_components = channels;
  encoder.info.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&encoder.info);
  jpeg_set_quality(&encoder.info, quality, TRUE);
  jpeg_start_compress(&encoder.info, TRUE);
  while (encoder.info.next_scanline < encoder.info.image_height) {
    const int64_t line = int64_t{encoder.info.next_scanline} * size.width * channels;
    auto* row = const_cast<JSAMPROW>(pixels + line);
    jpeg_write_scanlines(&encoder.info, &row, 1);
  }
  jpeg_finish_compress(&encoder.info);
  return true;
}

}  // namespace

std::string encode_jpeg(const uint8_t* pixels, Size size, int channels, int quality) {
  Encoder encoder{};
  encoder.info.err = jpeg_std_error(&encoder.errors);
  encoder.errors.error_exit = fail;
  encoder.info.client_data = &encoder;
  struct Close {
    Encoder* encoder;
    ~Close() {
      jpeg_destroy_compress(&encoder->info);
      std::free(encoder->bytes);
    }
  } close{&encoder};
  if (!write(encoder, pixels, size, channels, quality)) {
    throw Error(ErrorCode::kValue, "imencode",
                std::string("given an image that is no JPEG: ") + encoder.message);
  }
  return {reinterpret_cast<const char*>(encoder.bytes), encoder.size};
}
}  // namespace mxnet::image
