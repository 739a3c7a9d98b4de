// SPDX-License-Identifier: Apache-2.0
// Changes of colour of images of three channels; those of one channel only change in brightness
// and contrast.
#pragma once
#include "io/image.h"

namespace mxnet::io {

void change_brightness(Image* image, float factor);
// Away from, or towards, the mean grey.
void change_contrast(Image* image, float factor);
// Away from, or towards, each pixel's own grey.
void change_saturation(Image* image, float factor);
// Along the principal axes of the colours of photographs (Krizhevsky et al. 2012).
void add_lighting(Image* image, const float (&strength)[3]);
// In the colour space of hue (0 to 180), lightness and saturation (0 to 255).
void shift_hls(Image* image, int hue, int lightness, int saturation);

}  // namespace mxnet::io
