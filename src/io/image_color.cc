// SPDX-License-Identifier: Apache-2.0
// Colours pixel by pixel.
#include "io/image_color.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "op/image/pixel.h"

namespace mxnet::io {
namespace {

using image::to_pixel;

constexpr float kRed = 0.299F, kGreen = 0.587F, kBlue = 0.114F;

float grey_of(const uint8_t* pixel) {
  return kRed * static_cast<float>(pixel[0]) + kGreen * static_cast<float>(pixel[1]) +
         kBlue * static_cast<float>(pixel[2]);
}

// All values become value * factor + offset: there are only 256 of them.
void scale_values(Image* image, float factor, float offset) {
  std::array<uint8_t, 256> scaled;
  for (std::size_t value = 0; value < scaled.size(); ++value)
    scaled[value] = to_pixel<uint8_t>(static_cast<float>(value) * factor + offset);
  for (uint8_t& value : image->pixels) value = scaled[value];
}

struct HLS {
  float hue, lightness, saturation;  // [0, 360), [0, 1], [0, 1]
};

HLS to_hls(const uint8_t* pixel) {
  const float r = static_cast<float>(pixel[0]) / 255, g = static_cast<float>(pixel[1]) / 255,
              b = static_cast<float>(pixel[2]) / 255;
  const float high = std::max({r, g, b}), low = std::min({r, g, b}), span = high - low;
  HLS hls{0, (high + low) / 2, 0};
  if (span == 0) return hls;
  hls.saturation = span / (1 - std::fabs(2 * hls.lightness - 1));
  if (high == r) {
    hls.hue = 60 * (g - b) / span;
  } else if (high == g) {
    hls.hue = 120 + 60 * (b - r) / span;
  } else {
    hls.hue = 240 + 60 * (r - g) / span;
  }
  if (hls.hue < 0) hls.hue += 360;
  return hls;
}

void from_hls(const HLS& hls, uint8_t* pixel) {
  const float chroma = (1 - std::fabs(2 * hls.lightness - 1)) * hls.saturation;
  const float low = hls.lightness - chroma / 2;
  // How far each colour's own hue is from this one decides its share.
  constexpr float kHues[3] = {0, 120, 240};
  for (int c = 0; c < 3; ++c) {
    float distance = std::fabs(hls.hue - kHues[c]);
    distance = std::min(distance, 360 - distance);
    const float share = std::clamp(2 - distance / 60, 0.0F, 1.0F);
    pixel[c] = to_pixel<uint8_t>((low + chroma * share) * 255);
  }
}

}  // namespace

void change_brightness(Image* image, float factor) { scale_values(image, factor, 0); }

void change_contrast(Image* image, float factor) {
  double sum = 0;
  const auto count = static_cast<double>(image->height * image->width);
  for (std::size_t i = 0; i < image->pixels.size(); i += static_cast<std::size_t>(image->channels))
    sum += image->channels == 3 ? static_cast<double>(grey_of(&image->pixels[i]))
                                : static_cast<double>(image->pixels[i]);
  scale_values(image, factor, (1 - factor) * static_cast<float>(sum / count));
}

void change_saturation(Image* image, float factor) {
  if (image->channels != 3) return;
  for (std::size_t i = 0; i < image->pixels.size(); i += 3) {
    uint8_t* pixel = &image->pixels[i];
    const float grey = (1 - factor) * grey_of(pixel);
    for (int c = 0; c < 3; ++c)
      pixel[c] = to_pixel<uint8_t>(static_cast<float>(pixel[c]) * factor + grey);
  }
}

void add_lighting(Image* image, const float (&strength)[3]) {
  if (image->channels != 3) return;
  constexpr float kValues[3] = {55.46F, 4.794F, 1.148F};
  constexpr float kVectors[3][3] = {
      {-0.5675F, 0.7192F, 0.4009F}, {-0.5808F, -0.0045F, -0.8140F}, {-0.5836F, -0.6948F, 0.4203F}};
  float added[3] = {};
  for (int c = 0; c < 3; ++c)
    for (int k = 0; k < 3; ++k) added[c] += kVectors[c][k] * strength[k] * kValues[k];
  for (std::size_t i = 0; i < image->pixels.size(); ++i)
    image->pixels[i] = to_pixel<uint8_t>(static_cast<float>(image->pixels[i]) + added[i % 3]);
}

void shift_hls(Image* image, int hue, int lightness, int saturation) {
  if (image->channels != 3) return;
  for (std::size_t i = 0; i < image->pixels.size(); i += 3) {
    HLS hls = to_hls(&image->pixels[i]);
    hls.hue = std::fmod(hls.hue + static_cast<float>(2 * hue) + 720, 360.0F);
    hls.lightness = std::clamp(hls.lightness + static_cast<float>(lightness) / 255, 0.0F, 1.0F);
    hls.saturation = std::clamp(hls.saturation + static_cast<float>(saturation) / 255, 0.0F, 1.0F);
    from_hls(hls, &image->pixels[i]);
  }
}

}  // namespace mxnet::io
