// SPDX-License-Identifier: Apache-2.0
// JPEG through libjpeg. Its errors leave by longjmp, past no object with a destructor.
#include "op/image/codec.h"

#include <algorithm>
#include <csetjmp>
#include <cstdio>  // jpeglib.h wants it
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <jpeglib.h>

#include "op/image/orientation.h"

namespace mxnet::image {
namespace {

struct Decoder {
  jpeg_decompress_struct info;
  jpeg_error_mgr errors;
  std::jmp_buf escape;
  char message[JMSG_LENGTH_MAX];
};

void fail(j_common_ptr info) {
  auto* decoder = static_cast<Decoder*>(info->client_data);
  info->err->format_message(info, decoder->message);
  std::longjmp(decoder->escape, 1);
}
void ignore(j_common_ptr, int) {}  // warnings: what can be shown of a damaged file is shown

constexpr int kExifMarker = JPEG_APP0 + 1;
constexpr unsigned kLongestMarker = 0xffff;

bool open(Decoder& decoder, Bytes bytes, int channels, Size* size) {
  if (setjmp(decoder.escape) != 0) return false;
  jpeg_create_decompress(&decoder.info);
  jpeg_save_markers(&decoder.info, kExifMarker, kLongestMarker);
  jpeg_mem_src(&decoder.info, bytes.data(), static_cast<unsigned long>(bytes.size()));
  jpeg_read_header(&decoder.info, TRUE);
  const J_COLOR_SPACE space = decoder.info.jpeg_color_space;
  // libjpeg makes neither grey nor red, green and blue of these four.
  if (space == JCS_CMYK || space == JCS_YCCK) {
    decoder.info.out_color_space = JCS_CMYK;
  } else {
    decoder.info.out_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  }
  *size = {decoder.info.image_height, decoder.info.image_width};
  return true;
}

// Of a damaged file what there is is shown, and grey for the rest; but not gigabytes of it for a
// few bytes. A whole file has about a bit or more for each 64 pixels.
void expect_most_of_it(Size size, std::size_t bytes) {
  constexpr int64_t kAnyway = int64_t{1} << 24, kPixelsOfByte = 4096;
  const int64_t pixels = size.height * size.width;
  if (pixels > kAnyway && std::cmp_greater(pixels / kPixelsOfByte, bytes))
    refuse(fmt::format("{} bytes of a JPEG of {} x {}", bytes, size.height, size.width));
}

// Of the first Exif note: other programs store other things under the same marker.
int orientation_of(const jpeg_decompress_struct& info) {
  constexpr std::string_view kName("Exif\0\0", 6);
  for (const auto* marker = info.marker_list; marker != nullptr; marker = marker->next) {
    const Bytes note(marker->data, marker->data_length);
    if (marker->marker == kExifMarker && note.size() > kName.size() &&
        std::equal(kName.begin(), kName.end(), note.begin()))
      return image::orientation_of(note.subspan(kName.size()));
  }
  return 1;
}

// `line` has four bytes a pixel, for those four.
bool read(Decoder& decoder, int channels, uint8_t* pixels, uint8_t* line) {
  if (setjmp(decoder.escape) != 0) return false;
  jpeg_start_decompress(&decoder.info);
  const bool four = decoder.info.out_color_space == JCS_CMYK;
  while (decoder.info.output_scanline < decoder.info.output_height) {
    const int64_t width = decoder.info.output_width;
    uint8_t* to = pixels + int64_t{decoder.info.output_scanline} * width * channels;
    JSAMPROW row = four ? line : to;
    jpeg_read_scanlines(&decoder.info, &row, 1);
    for (int64_t x = 0; four && x < width; ++x) {
      // Stored inverted, as Adobe's programs do: each is what is left of its colour.
      const int black = line[x * 4 + 3];
      const auto left = [&](int64_t i) { return black - ((255 - line[x * 4 + i]) * black >> 8); };
      const int red = left(0), green = left(1), blue = left(2);
      if (channels == 1) {
        to[x] = static_cast<uint8_t>((299 * red + 587 * green + 114 * blue + 500) / 1000);
      } else {
        to[x * 3] = static_cast<uint8_t>(red);
        to[x * 3 + 1] = static_cast<uint8_t>(green);
        to[x * 3 + 2] = static_cast<uint8_t>(blue);
      }
    }
  }
  jpeg_finish_decompress(&decoder.info);
  return true;
}

}  // namespace

void decode_jpeg(Bytes bytes, int channels, const MakePixels& make) {
  Decoder decoder{};
  decoder.info.err = jpeg_std_error(&decoder.errors);
  decoder.errors.error_exit = fail;
  decoder.errors.emit_message = ignore;
  decoder.info.client_data = &decoder;
  struct Close {
    jpeg_decompress_struct* info;
    ~Close() { jpeg_destroy_decompress(info); }
  } close{&decoder.info};
  Size size{};
  if (!open(decoder, bytes, channels, &size))
    refuse(std::string("a JPEG that cannot be read: ") + decoder.message);
  expect_size(size);
  expect_most_of_it(size, bytes.size());
  const int orientation = orientation_of(decoder.info);
  std::vector<uint8_t> stored;
  if (is_turned(orientation))
    stored.resize(static_cast<std::size_t>(size.height * size.width * channels));
  uint8_t* pixels = stored.empty() ? make(size) : stored.data();
  std::string line(static_cast<std::size_t>(size.width) * 4, '\0');
  if (!read(decoder, channels, pixels, reinterpret_cast<uint8_t*>(line.data())))
    refuse(std::string("a JPEG that cannot be read: ") + decoder.message);
  if (!stored.empty())
    turn(stored.data(), size, channels, orientation, make(turned(size, orientation)));
}
}  // namespace mxnet::image
