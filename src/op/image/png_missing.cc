// SPDX-License-Identifier: Apache-2.0
// Instead of png.cc where the build found no libpng.
#include "op/image/codec.h"

namespace mxnet::image {

void decode_png(Bytes, int, const MakePixels&) {
  refuse("a PNG, and this library was built without libpng");
}

std::string encode_png(const uint8_t*, Size, int, int) {
  refuse("a PNG to write, and this build has no encoder for it");
}
}  // namespace mxnet::image
