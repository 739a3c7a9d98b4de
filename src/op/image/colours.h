// SPDX-License-Identifier: Apache-2.0
// How the colours of a pixel change, for the host and for kernels: fn(x, y) makes y of the one
// (grey) or three (red, green, blue) numbers of x, in the type C that is computed in.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/host_device.h"

namespace mxnet::image {

// What the eye makes of red, green and blue.
struct Luma {
  static constexpr float kRed = 0.299f, kGreen = 0.587f, kBlue = 0.114f;
  MX_HOST_DEVICE static double weight(int64_t channel, int64_t channels) {
    if (channels == 1) return 1.0;
    return double{channel == 0 ? kRed : channel == 1 ? kGreen : kBlue};
  }
};

struct ChangeBrightness {
  int64_t channels;
  float factor;
  template <class C>
  MX_HOST_DEVICE void operator()(const C* x, C* y) const {
    for (int64_t c = 0; c < channels; ++c) y[c] = x[c] * factor;
  }
};

// Away from the mean of the image, or towards it.
struct ChangeContrast {
  int64_t channels;
  float factor;
  double mean;
  template <class C>
  MX_HOST_DEVICE void operator()(const C* x, C* y) const {
    const C rest = static_cast<C>(mean * (1.0 - double{factor}));
    for (int64_t c = 0; c < channels; ++c) y[c] = x[c] * factor + rest;
  }
};

// Away from grey, or towards it. As existing programs have it, grey is what blue adds to it alone:
// images become darker, or lighter, too.
struct ChangeSaturation {
  int64_t channels;
  float factor;
  template <class C>
  MX_HOST_DEVICE void operator()(const C* x, C* y) const {
    if (channels == 1) {
      y[0] = x[0];
      return;
    }
    const C from[] = {x[0], x[1], x[2]}, rest = from[2] * Luma::kBlue * (1 - factor);
    for (int c = 0; c < 3; ++c) y[c] = from[c] * factor + rest;
  }
};

// Turns the hue by `turns` of the colour wheel: through hue in degrees, lightness and saturation
// and back. Each step is rounded as written: bytes are cut from the result, so that the last bit of
// a number near a whole one decides which byte it becomes.
struct ChangeHue {
  int64_t channels;
  float turns;
  template <class C>
  MX_HOST_DEVICE void operator()(const C* x, C* y) const {
    if (channels == 1) {
      y[0] = x[0];
    } else {
      turn(x[0], x[1], x[2], y, y + 1, y + 2);
    }
  }

  // Without branches: loops over many pixels are vectors (op/image/hue_loops.inc).
  template <class C>
  [[gnu::always_inline]] MX_HOST_DEVICE void turn(C x_red, C x_green, C x_blue, C* y_red,
                                                  C* y_green, C* y_blue) const {
    constexpr C kWhite = 255, kDegrees = 360, kSixths = C(6) / kDegrees;
    const C red = x_red / kWhite, green = x_green / kWhite, blue = x_blue / kWhite;
    const C high = greater(greater(red, green), blue), low = less(less(red, green), blue);
    const C chroma = high - low, lightness = (high + low) * C(0.5);
    const bool dark = lightness < C(0.5);
    // Where there is no colour these are no numbers, and not used.
    const C saturation = chroma / (dark ? high + low : 2 - high - low), slope = 60 / chroma;
    const C from_red = (green - blue) * slope, from_green = (blue - red) * slope + 120;
    const C from_blue = (red - green) * slope + 240;
    C hue = high == red ? from_red : high == green ? from_green : from_blue;
    hue = hue < 0 ? hue + kDegrees : hue;
    hue = (hue + static_cast<C>(turns) * kDegrees) * kSixths;
    C place = hue - 6 * std::floor(hue / 6);  // exact: hue is less than a few turns
    place = place < 6 ? place : place - 6;
    const C light_top = lightness + saturation - lightness * saturation;
    const C dark_top = lightness * (1 + saturation);
    const C top = lightness <= C(0.5) ? dark_top : light_top;
    const C bottom = 2 * lightness - top, range = top - bottom;
    const C sector = std::floor(place), rest = place - sector;
    const C rising = (bottom + range * rest) * kWhite;
    const C falling = (bottom + range * (1 - rest)) * kWhite;
    const C upper = top * kWhite, lower = bottom * kWhite, grey = lightness * kWhite;
    // Each colour rises for a sixth, stays up for two, falls for one; green and blue follow red.
    const auto turned = [&](C rise) {
      const C start = sector - rise, since = start < 0 ? start + 6 : start;
      const C up = since < 3 ? upper : since == 3 ? falling : lower;
      const C coloured = since == 0 ? rising : up;
      return chroma > 0 ? coloured : grey;
    };
    *y_red = turned(4);
    *y_green = turned(0);
    *y_blue = turned(2);
  }

 private:
  // std::min and std::max without references, which keep a loop from being vectors.
  template <class C>
  [[gnu::always_inline]] MX_HOST_DEVICE static C less(C a, C b) {
    return b < a ? b : a;
  }
  template <class C>
  [[gnu::always_inline]] MX_HOST_DEVICE static C greater(C a, C b) {
    return a < b ? b : a;
  }
};

struct ChangeLight {
  int64_t channels;
  float add[3];
  template <class C>
  MX_HOST_DEVICE void operator()(const C* x, C* y) const {
    for (int64_t c = 0; c < channels; ++c) y[c] = x[c] + add[c];
  }

  // Along the directions in which the colours of photographs differ most (Krizhevsky et al. 2012).
  static ChangeLight along(int64_t channels, const std::array<float, 3>& alpha) {
    // Columns are eigenvectors times eigenvalues.
    constexpr float kDirections[3][3] = {{55.46f * -0.5675f, 4.794f * 0.7192f, 1.148f * 0.4009f},
                                         {55.46f * -0.5808f, 4.794f * -0.0045f, 1.148f * -0.8140f},
                                         {55.46f * -0.5836f, 4.794f * -0.6948f, 1.148f * 0.4203f}};
    ChangeLight light{channels, {0, 0, 0}};
    for (std::size_t c = 0; c < 3 && channels == 3; ++c)
      for (std::size_t i = 0; i < 3; ++i) light.add[c] += kDirections[c][i] * alpha[i];
    return light;
  }
};

// ---- what operators draw ------------------------------------------------------------------------

enum class Colour : uint8_t { kBrightness, kContrast, kSaturation, kHue };

struct FactorParams {
  float min_factor, max_factor;
};
struct JitterParams {
  float brightness, contrast, saturation, hue;
};
struct LightingParams {
  float alpha_std;
};
struct AlphaParams {
  std::vector<float> alpha;
};

template <class Draws>
float draw_between(Draws& draws, float low, float high) {
  return low + (high - low) * draws.template uniform<float>();
}

struct ColourStep {
  Colour colour;
  float amount;
};
// The four changes in random order, those of amount 0 left out.
template <class Draws>
std::vector<ColourStep> draw_jitter(const JitterParams& params, Draws& draws) {
  std::array<ColourStep, 4> most{{{Colour::kBrightness, params.brightness},
                                  {Colour::kContrast, params.contrast},
                                  {Colour::kSaturation, params.saturation},
                                  {Colour::kHue, params.hue}}};
  for (uint32_t i = 1; i < 4; ++i) std::swap(most[i], most[draws.below(i + 1)]);
  std::vector<ColourStep> steps;
  for (const ColourStep& step : most) {
    if (step.amount > 0)
      steps.push_back({step.colour, 1 + draw_between(draws, -step.amount, step.amount)});
  }
  return steps;
}

template <class Draws>
std::array<float, 3> draw_light(const LightingParams& params, Draws& draws) {
  const auto [red, green] = draws.template normal_pair<float>();
  const float blue = draws.template normal<float>();
  return {params.alpha_std * red, params.alpha_std * green, params.alpha_std * blue};
}

}  // namespace mxnet::image
