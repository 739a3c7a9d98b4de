// SPDX-License-Identifier: Apache-2.0
// The distributions of the NumPy front end: one number each, out of draws of the CPU or of a GPU's
// thread (D is a RandomNumbers).
#pragma once
#include <cmath>
#include <cstdint>

#include "op/generators/random_numbers.h"
#include "op/random/sampler_rows.h"

namespace mxnet::numpy_samplers {

// A number and its slope by the distribution's last parameter.
struct Sample {
  float value, slope;
};

// Normal numbers in pairs: both numbers of the polar method are used.
class PairedNormal {
 public:
  template <class D>
  MX_HOST_DEVICE float operator()(D& draws) {
    if (has_saved_) {
      has_saved_ = false;
      return saved_;
    }
    const auto point = draws.template point_in_circle<float>();
    const float scale = std::sqrt(-2.0f * std::log(point.square) / point.square);
    saved_ = point.x * scale;
    has_saved_ = true;
    return point.y * scale;
  }

 private:
  float saved_ = 0;
  bool has_saved_ = false;
};

// location + scale * noise.
MX_HOST_DEVICE inline Sample scaled(float noise, float location, float scale) {
  return {noise * scale + location, noise};
}

// The distributions: kParams parameters, kSlope: a gradient, and one number.
struct Uniform {
  static constexpr int kParams = 2;
  static constexpr bool kSlope = false;
  template <class D>
  MX_HOST_DEVICE Sample operator()(D& draws, float low, float high) {
    return {draws.template uniform<float>() * (high - low) + low, 0};
  }
};
struct Normal {
  static constexpr int kParams = 2;
  static constexpr bool kSlope = true;
  template <class D>
  MX_HOST_DEVICE Sample operator()(D& draws, float loc, float scale) {
    return scaled(noise(draws), loc, scale);
  }
  PairedNormal noise;
};
struct Gumbel {
  static constexpr int kParams = 2;
  static constexpr bool kSlope = true;
  template <class D>
  MX_HOST_DEVICE Sample operator()(D& draws, float loc, float scale) {
    return scaled(static_cast<float>(-std::log(-std::log(double{draws.template uniform<float>()}))),
                  loc, scale);
  }
};
struct Logistic {
  static constexpr int kParams = 2;
  static constexpr bool kSlope = true;
  template <class D>
  MX_HOST_DEVICE Sample operator()(D& draws, float loc, float scale) {
    const double u = draws.template uniform<float>();
    return scaled(static_cast<float>(std::log(u) - std::log(1.0 - u)), loc, scale);
  }
};
struct Exponential {
  static constexpr int kParams = 1;
  static constexpr bool kSlope = true;
  template <class D>
  MX_HOST_DEVICE Sample operator()(D& draws, float scale, float) {
    return scaled(-std::log(draws.template uniform<float>()), 0, scale);
  }
};
struct Rayleigh {
  static constexpr int kParams = 1;
  static constexpr bool kSlope = true;
  template <class D>
  MX_HOST_DEVICE Sample operator()(D& draws, float scale, float) {
    return scaled(std::sqrt(-2.0f * std::log(draws.template uniform<float>())), 0, scale);
  }
};
struct Weibull {
  static constexpr int kParams = 1;
  static constexpr bool kSlope = true;
  template <class D>
  MX_HOST_DEVICE Sample operator()(D& draws, float a, float) {
    const float noise = -std::log(draws.template uniform<float>());
    const float value = std::pow(noise, 1.0f / a);
    return {value, -value * std::log(noise) / (a * a)};
  }
};
struct Pareto {
  static constexpr int kParams = 1;
  static constexpr bool kSlope = true;
  template <class D>
  MX_HOST_DEVICE Sample operator()(D& draws, float a, float) {
    const float noise = -std::log(draws.template uniform<float>());
    const double value = std::exp(double{noise} / a);
    return {static_cast<float>(value - 1.0), static_cast<float>(-value * noise / (double{a} * a))};
  }
};
struct Power {
  static constexpr int kParams = 1;
  static constexpr bool kSlope = false;
  template <class D>
  MX_HOST_DEVICE Sample operator()(D& draws, float a, float) {
    return {std::pow(1.0f - draws.template uniform<float>(), 1.0f / a), 0};
  }
};
struct Gamma {
  static constexpr int kParams = 2;
  static constexpr bool kSlope = false;
  template <class D>
  MX_HOST_DEVICE Sample operator()(D& draws, float shape, float scale) {
    return {draws.template gamma<float>(shape, scale), 0};
  }
};
struct Bernoulli {
  static constexpr int kParams = 1;
  static constexpr bool kSlope = false;
  template <class D>
  MX_HOST_DEVICE Sample operator()(D& draws, float probability, float) {
    return {draws.template uniform<float>() < probability ? 1.0f : 0.0f, 0};
  }
};
struct BernoulliLogit {
  static constexpr int kParams = 1;
  static constexpr bool kSlope = false;
  template <class D>
  MX_HOST_DEVICE Sample operator()(D& draws, float logit, float) {
    const float u = draws.template uniform<float>();
    return {std::log(u) - std::log(1.0f - u) < logit ? 1.0f : 0.0f, 0};
  }
};

// All of them, in the order of the rows that a GPU knows them by.
#define MX_NUMPY_SAMPLERS(ROW) \
  ROW(Uniform)                 \
  ROW(Normal)                  \
  ROW(Gumbel)                  \
  ROW(Logistic)                \
  ROW(Exponential)             \
  ROW(Rayleigh)                \
  ROW(Weibull)                 \
  ROW(Pareto)                  \
  ROW(Power)                   \
  ROW(Gamma)                   \
  ROW(Bernoulli)               \
  ROW(BernoulliLogit)

MX_SAMPLER_ROWS(MX_NUMPY_SAMPLERS)

}  // namespace mxnet::numpy_samplers
