// SPDX-License-Identifier: Apache-2.0
// The distributions that operators draw from: names and defaults of their parameters, and one
// number. D is a RandomNumbers.
#pragma once
#include <array>
#include <cstdint>

#include "op/generators/random_numbers.h"
#include "op/random/domain.h"
#include "op/random/sampler_rows.h"

namespace mxnet::samplers {

struct ParamFacts {
  const char* name;  // of a number
  const char* arg;   // of an array
  float initial;
  Domain domain;
};

struct Uniform {
  static constexpr std::array<ParamFacts, 2> kParams = {
      {{"low", "low", 0, Domain::kAny}, {"high", "high", 1, Domain::kAny}}};
  template <class F, class D>
  MX_HOST_DEVICE static F draw(D& draws, F low, F high) {
    return draws.template uniform<F>() * (high - low) + low;
  }
};

struct Normal {
  static constexpr std::array<ParamFacts, 2> kParams = {
      {{"loc", "mu", 0, Domain::kAny}, {"scale", "sigma", 1, Domain::kPositive}}};
  template <class F, class D>
  MX_HOST_DEVICE static F draw(D& draws, F loc, F scale) {
    return draws.template normal<F>() * scale + loc;
  }
};

struct Gamma {
  static constexpr std::array<ParamFacts, 2> kParams = {
      {{"alpha", "alpha", 1, Domain::kPositive}, {"beta", "beta", 1, Domain::kPositive}}};
  template <class F, class D>
  MX_HOST_DEVICE static F draw(D& draws, F alpha, F beta) {
    return draws.template gamma<F>(alpha, beta);
  }
};

struct Exponential {
  static constexpr std::array<ParamFacts, 1> kParams = {{{"lam", "lam", 1, Domain::kPositive}}};
  template <class F, class D>
  MX_HOST_DEVICE static F draw(D& draws, F rate, F) {
    return static_cast<F>(draws.template exponential<F>() / rate);
  }
};

// Counts are computed in float, whatever the type of the result.
struct Poisson {
  static constexpr std::array<ParamFacts, 1> kParams = {{{"lam", "lam", 1, Domain::kNotNegative}}};
  template <class F, class D>
  MX_HOST_DEVICE static F draw(D& draws, F mean, F) {
    return static_cast<F>(draws.poisson(static_cast<float>(mean)));
  }
};

// What the means of Poisson numbers are drawn from.
struct GammaOfMeans {
  float alpha, beta;
};
template <class D>
MX_HOST_DEVICE float poisson_of(D& draws, const GammaOfMeans& means) {
  return draws.poisson(draws.template gamma<float>(means.alpha, means.beta));
}

// Failures before the k-th success of probability p: Poisson with a gamma distributed mean.
struct NegativeBinomial {
  static constexpr std::array<ParamFacts, 2> kParams = {
      {{"k", "k", 1, Domain::kNotNegative}, {"p", "p", 1, Domain::kNotNegative}}};
  template <class F>
  MX_HOST_DEVICE static GammaOfMeans means(F k, F p) {
    return {static_cast<float>(k), static_cast<float>((F(1) - p) / p)};
  }
  template <class F, class D>
  MX_HOST_DEVICE static F draw(D& draws, F k, F p) {
    return static_cast<F>(poisson_of(draws, means(k, p)));
  }
};

// The same by mean and dispersion; without dispersion it is Poisson.
struct GeneralizedNegativeBinomial {
  static constexpr std::array<ParamFacts, 2> kParams = {
      {{"mu", "mu", 1, Domain::kNotNegative}, {"alpha", "alpha", 1, Domain::kNotNegative}}};
  template <class F>
  MX_HOST_DEVICE static GammaOfMeans means(F mean, F dispersion) {
    return {static_cast<float>(F(1) / dispersion), static_cast<float>(mean * dispersion)};
  }
  template <class F, class D>
  MX_HOST_DEVICE static F draw(D& draws, F mean, F dispersion) {
    if (dispersion == F(0)) return static_cast<F>(draws.poisson(static_cast<float>(mean)));
    return static_cast<F>(poisson_of(draws, means(mean, dispersion)));
  }
};

// All of them, in the order of the rows that a GPU knows them by.
#define MX_SAMPLERS(ROW) \
  ROW(Uniform)           \
  ROW(Normal)            \
  ROW(Gamma)             \
  ROW(Exponential)       \
  ROW(Poisson)           \
  ROW(NegativeBinomial)  \
  ROW(GeneralizedNegativeBinomial)

MX_SAMPLER_ROWS(MX_SAMPLERS)

}  // namespace mxnet::samplers
