// SPDX-License-Identifier: Apache-2.0
// Instead of jpeg.cc where the build found no libjpeg.
#include "op/image/codec.h"

namespace mxnet::image {

void decode_jpeg(Bytes, int, const MakePixels&) {
  refuse("a JPEG, and this library was built without libjpeg");
}

}  // namespace mxnet::image
