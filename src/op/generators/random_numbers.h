// SPDX-License-Identifier: Apache-2.0
// What distributions are made of, for whatever gives words: a stream of the CPU (random_draws.h) or
// a counter of a GPU's thread. F is float (one word a number) or double (two words).
#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/host_device.h"
#include "base/log_gamma.h"

namespace mxnet {

// In [0, 1), out of two words.
MX_HOST_DEVICE inline double uniform_of(uint32_t low, uint32_t high) {
  const double u = (static_cast<double>(low) + static_cast<double>(high) * 0x1p32) * 0x1p-64;
  return u < 1.0 ? u : 0x1.fffffffffffffp-1;
}

// In [0, 1), out of one.
MX_HOST_DEVICE inline float uniform_of(uint32_t word) {
  const float u = static_cast<float>(word) * 0x1p-32f;
  return u < 1.0f ? u : 0x1.fffffep-1f;
}

// Of half a turn times the uniform number of a word.
MX_HOST_DEVICE inline float half_turn_tangent(uint32_t word) {
  return static_cast<float>(std::tan(3.1415926535897932 * uniform_of(word)));
}

// Between these means Poisson numbers are candidates that are rejected; above, mean and sample are
// the same float.
inline constexpr float kSmallPoissonMean = 12.0f, kHugePoissonMean = 1e30f;

// exp(candidate log(mean) - log(candidate!)) beside that of the mean, for whole candidates.
struct PoissonLikelihood {
  MX_HOST_DEVICE explicit PoissonLikelihood(float mean)
      : log_mean(std::log(mean)), offset(mean * log_mean - log_gamma(mean + 1.0f)) {}
  MX_HOST_DEVICE float operator()(float candidate) const {
    return std::exp(candidate * log_mean - log_gamma(candidate + 1.0f) - offset);
  }
  float log_mean, offset;
};

// Of a candidate that the tangent y has made: what it was likely to be made, turned over.
MX_HOST_DEVICE inline float poisson_envelope(float y) { return 0.9f * (1.0f + y * y); }

// Whether a gamma number of double that the normal number z makes is accepted by the uniform number
// u, whatever logarithms say: Marsaglia's and Tsang's bound, which nine of ten are below. For d of
// which rounding moves the two sides of the comparison by less than the margin.
MX_HOST_DEVICE inline bool surely_gamma(double u, double z, double d) {
  constexpr double kMargin = 1e-8;
  const double square = z * z;
  return d < 1e6 && u < 1 - 0.0331 * square * square - kMargin;
}

// Words: has uint32_t word(), random bits, or a uniform() of its own.
template <class Words>
class RandomNumbers {
 public:
  // In [0, 1).
  template <class F>
  MX_HOST_DEVICE F uniform() {
    if constexpr (std::is_same_v<F, float>) {
      return uniform_of(self().word());
    } else {
      const uint32_t low = self().word();
      return uniform_of(low, self().word());
    }
  }

  // A point in the unit circle but not its centre: y and the square of the radius.
  template <class F>
  struct Point {
    F x, y, square;
  };
  template <class F>
  MX_HOST_DEVICE Point<F> point_in_circle() {
    for (;;) {
      const F x = F(2) * self().template uniform<F>() - F(1);
      const F y = F(2) * self().template uniform<F>() - F(1);
      const F square = x * x + y * y;
      if (square <= F(1) && square != F(0)) return {x, y, square};
    }
  }

  // Marsaglia's polar method; the second number of each pair is not kept.
  template <class F>
  MX_HOST_DEVICE F normal() {
    const Point<F> p = point_in_circle<F>();
    return p.y * std::sqrt(F(-2) * std::log(p.square) / p.square);
  }

  // Both numbers of a pair.
  template <class F>
  MX_HOST_DEVICE std::array<F, 2> normal_pair() {
    const Point<F> p = point_in_circle<F>();
    const F scale = std::sqrt(F(-2) * std::log(p.square) / p.square);
    return {p.y * scale, p.x * scale};
  }

  // In double: 1 - u must not be rounded to float before its logarithm is taken.
  template <class F>
  MX_HOST_DEVICE double exponential() {
    return -std::log(1.0 - uniform<F>());
  }

  // Marsaglia and Tsang 2000; alpha below 1 by the power of a further number.
  template <class F>
  MX_HOST_DEVICE F gamma(F alpha, F beta) {
    if (!(alpha >= F(0)) || std::isinf(alpha)) return std::numeric_limits<F>::quiet_NaN();
    // Constants are double, so that what depends on alpha alone is rounded to F once.
    const F d = static_cast<F>(alpha < F(1) ? alpha + 2.0 / 3.0 : alpha - 1.0 / 3.0);
    const F k = static_cast<F>(std::sqrt(9.0 * d));
    const F c = static_cast<F>(1.0 / k);
    for (;;) {
      const F z = normal<F>();
      if (z <= -k) continue;
      const F x = F(1) + c * z;
      const F v = x * x * x;
      const F u = self().template uniform<F>();
      const bool sure = std::is_same_v<F, double> && surely_gamma(1.0 - u, z, d);
      if (sure || std::log(1.0 - u) < 0.5 * z * z + d * (1.0 - v + std::log(v))) {
        const F sample = d * v * beta;
        if (!(alpha < F(1))) return sample;
        // The power in double, of an exponent that is rounded to F.
        const double base = self().template uniform<F>(), exponent = F(1) / alpha;
        return static_cast<F>(sample * std::pow(base, exponent));
      }
    }
  }

  // Knuth's product of uniforms for small means, rejection from a Lorentzian for large ones. Always
  // in float, but for the tangent.
  MX_HOST_DEVICE float poisson(float mean) {
    if (!(mean >= 0)) return std::numeric_limits<float>::quiet_NaN();
    if (mean > kHugePoissonMean) return mean;
    if (mean < kSmallPoissonMean) {
      const float threshold = std::exp(-mean);
      float count = 0;
      for (float product = uniform<float>(); product > threshold; product *= uniform<float>())
        ++count;
      return count;
    }
    const PoissonLikelihood likelihood(mean);
    return large_poisson(
        mean, [this] { return half_turn_tangent(self().word()); },
        [&](float candidate, float y, float u) {
          return u <= poisson_envelope(y) * likelihood(candidate);
        });
  }
  // Of a mean between the two above. tangent(): half_turn_tangent() of the next word; takes(): for
  // candidate, tangent and uniform number what stands in poisson().
  template <class Tangent, class Takes>
  MX_HOST_DEVICE float large_poisson(float mean, const Tangent& tangent, const Takes& takes) {
    const float root = std::sqrt(2.0f * mean);
    for (;;) {
      float y, candidate;
      do {
        y = tangent();
        candidate = root * y + mean;
      } while (candidate < 0.0f);
      candidate = std::floor(candidate);
      if (takes(candidate, y, uniform<float>())) return candidate;
    }
  }

  // Integers in [0, count), by scaling down and rejecting what would favour some.
  MX_HOST_DEVICE uint32_t below(uint32_t count) {
    const uint32_t scale = 0xffffffffu / count, past = scale * count;
    uint32_t drawn;
    do {
      drawn = self().word();
    } while (drawn >= past);
    return drawn / scale;
  }

 private:
  MX_HOST_DEVICE Words& self() { return static_cast<Words&>(*this); }
};

}  // namespace mxnet
