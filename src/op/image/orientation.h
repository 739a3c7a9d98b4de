// SPDX-License-Identifier: Apache-2.0
// How a photograph was held: cameras store pixels as the sensor has them, and a note of how to turn
// them. Viewers obey it, and so did the images that networks of 1.x were trained with.
#pragma once
#include <cstdint>

#include "op/image/codec.h"

namespace mxnet::image {

// As the tag of Exif says it, 1 to 8; 1, as they lie, where there is no such tag or none that can
// be read. `note` is what follows "Exif\0\0" in a JPEG.
int orientation_of(Bytes note);

constexpr bool is_turned(int orientation) { return orientation > 1; }
// From pixels as they are stored to those as they are seen.
Size turned(Size stored, int orientation);
void turn(const uint8_t* stored, Size size, int channels, int orientation, uint8_t* seen);

}  // namespace mxnet::image
