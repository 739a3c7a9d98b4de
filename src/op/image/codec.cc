// SPDX-License-Identifier: Apache-2.0
// Which decoder reads an image.
#include "op/image/codec.h"

#include <algorithm>
#include <array>

#include "base/error.h"

namespace mxnet::image {

void refuse(const std::string& reason) {
  throw Error(ErrorCode::kValue, "imdecode",
              "given " + reason + ", expected a JPEG, PNG or BMP image");
}

namespace {

bool is_jpeg(Bytes bytes) {
  return bytes.size() > 2 && bytes[0] == 0xff && bytes[1] == 0xd8 && bytes[2] == 0xff;
}

bool is_png(Bytes bytes) {
  constexpr std::array<uint8_t, 8> kSignature{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  return bytes.size() >= kSignature.size() &&
         std::equal(kSignature.begin(), kSignature.end(), bytes.begin());
}

bool is_bmp(Bytes bytes) { return bytes.size() > 2 && bytes[0] == 'B' && bytes[1] == 'M'; }

}  // namespace

void decode_image(Bytes bytes, int channels, const MakePixels& make) {
  if (is_jpeg(bytes)) return decode_jpeg(bytes, channels, make);
  if (is_png(bytes)) return decode_png(bytes, channels, make);
  if (is_bmp(bytes)) return decode_bmp(bytes, channels, make);
  refuse(std::to_string(bytes.size()) + " bytes of none of them");
}

}  // namespace mxnet::image
