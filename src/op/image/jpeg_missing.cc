// SPDX-License-Identifier: Apache-2.0
// Instead of jpeg.cc where the build found no libjpeg.
#include "op/image/codec.h"

namespace mxnet::image {

void decode_jpeg(Bytes, int, const MakePixels&) {
  refuse("a JPEG, and this library was built without libjpeg");
}

std::string encode_jpeg(const uint8_t*, Size, int, int) {
  refuse("a JPEG to write, and this build has no encoder for it");
}
}  // namespace mxnet::image
