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
    const C rest = x[2] * Luma::kBlue * (1 - factor);
    for (int c = 0; c < 3; ++c) y[c] = x[c] * factor + rest;
  }
};

// Turns the hue by `turns` of the colour wheel: through hue, lightness and saturation and back.
struct ChangeHue {
  int64_t channels;
  float turns;
  template <class C>
  MX_HOST_DEVICE void operator()(const C* x, C* y) const {
    constexpr C kWhite = 255;
    if (channels == 1) {
      y[0] = x[0];
      return;
    }
    const C red = x[0] / kWhite, green = x[1] / kWhite, blue = x[2] / kWhite;
    const C high = std::max(std::max(red, green), blue);
    const C low = std::min(std::min(red, green), blue);
    const C chroma = high - low, lightness = (high + low) / 2;
    // Of the wheel. Where there is no colour it is no number, and not used.
    C sixth = high == red     ? (green - blue) / chroma
              : high == green ? 2 + (blue - red) / chroma
                              : 4 + (red - green) / chroma;
    sixth += 6 * static_cast<C>(turns);
    // Each colour rises for a sixth, stays up for two, falls for one; green and blue follow red.
    const C shifts[] = {0, 4, 2};
    const bool coloured = chroma > 0;
    for (int c = 0; c < 3; ++c) {
      const C place = sixth + shifts[c];
      C at = place - 6 * std::floor(place / 6);
      at = at < 0 ? at + 6 : at;
      const C part = std::min(std::max(std::fabs(at - 3) - 1, C{0}), C{1});
      const C turned = (lightness + chroma * (part - C(0.5))) * kWhite;
      y[c] = coloured ? turned : x[c];
    }
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
