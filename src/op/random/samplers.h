// SPDX-License-Identifier: Apache-2.0
// The distributions that operators draw from: names and defaults of their parameters, and one
// number.
#pragma once
#include <array>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "op/random_draws.h"

namespace mxnet::samplers {

enum class Domain : uint8_t { kAny, kPositive, kNotNegative };

inline bool holds(Domain domain, float number) {
  return domain == Domain::kAny || number > 0 || (domain == Domain::kNotNegative && number == 0);
}
// What to say of a parameter outside of its domain.
inline std::string refusal(const char* name, float number, Domain domain) {
  return fmt::format("given {} = {}, expected a number {} 0", name, number,
                     domain == Domain::kPositive ? "above" : "not below");
}

struct ParamFacts {
  const char* name;  // of a number
  const char* arg;   // of an array
  float initial;
  Domain domain;
};

struct Uniform {
  static constexpr std::array<ParamFacts, 2> kParams = {
      {{"low", "low", 0, Domain::kAny}, {"high", "high", 1, Domain::kAny}}};
  template <class F>
  static F draw(Draws& draws, F low, F high) {
    return draws.uniform<F>() * (high - low) + low;
  }
};

struct Normal {
  static constexpr std::array<ParamFacts, 2> kParams = {
      {{"loc", "mu", 0, Domain::kAny}, {"scale", "sigma", 1, Domain::kPositive}}};
  template <class F>
  static F draw(Draws& draws, F loc, F scale) {
    return draws.normal<F>() * scale + loc;
  }
};

struct Gamma {
  static constexpr std::array<ParamFacts, 2> kParams = {
      {{"alpha", "alpha", 1, Domain::kPositive}, {"beta", "beta", 1, Domain::kPositive}}};
  template <class F>
  static F draw(Draws& draws, F alpha, F beta) {
    return draws.gamma<F>(alpha, beta);
  }
};

struct Exponential {
  static constexpr std::array<ParamFacts, 1> kParams = {{{"lam", "lam", 1, Domain::kPositive}}};
  template <class F>
  static F draw(Draws& draws, F rate, F) {
    return static_cast<F>(draws.exponential<F>() / rate);
  }
};

// Counts are computed in float, whatever the type of the result.
struct Poisson {
  static constexpr std::array<ParamFacts, 1> kParams = {{{"lam", "lam", 1, Domain::kNotNegative}}};
  template <class F>
  static F draw(Draws& draws, F mean, F) {
    return static_cast<F>(draws.poisson(static_cast<float>(mean)));
  }
};

// Failures before the k-th success of probability p: Poisson with a gamma distributed mean.
struct NegativeBinomial {
  static constexpr std::array<ParamFacts, 2> kParams = {
      {{"k", "k", 1, Domain::kNotNegative}, {"p", "p", 1, Domain::kNotNegative}}};
  template <class F>
  static F draw(Draws& draws, F k, F p) {
    const auto mean = draws.gamma<float>(static_cast<float>(k), static_cast<float>((F(1) - p) / p));
    return static_cast<F>(draws.poisson(mean));
  }
};

// The same by mean and dispersion; without dispersion it is Poisson.
struct GeneralizedNegativeBinomial {
  static constexpr std::array<ParamFacts, 2> kParams = {
      {{"mu", "mu", 1, Domain::kNotNegative}, {"alpha", "alpha", 1, Domain::kNotNegative}}};
  template <class F>
  static F draw(Draws& draws, F mean, F dispersion) {
    if (dispersion == F(0)) return static_cast<F>(draws.poisson(static_cast<float>(mean)));
    const auto gamma = draws.gamma<float>(static_cast<float>(F(1) / dispersion),
                                          static_cast<float>(mean * dispersion));
    return static_cast<F>(draws.poisson(gamma));
  }
};

}  // namespace mxnet::samplers
