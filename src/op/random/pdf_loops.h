// SPDX-License-Identifier: Apache-2.0
// Logarithms of densities and their slopes, for one sample and its parameters.
#pragma once
#include <array>
#include <cmath>

#include "base/host_device.h"
#include "base/log_gamma.h"
#include "op/digamma.h"

namespace mxnet::densities {

// Of parameters, which are positive; else there is no density.
MX_HOST_DEVICE inline double log_gamma_slope(double x) {
  return x > 0 ? digamma(x) : static_cast<double>(NAN);
}

// Slopes of the logarithm: by the sample and by each parameter.
struct Slopes {
  double sample;
  double params[2];
};

struct PdfParams {
  bool is_log;
};

// kNames: the parameters. kContinuous: whether there is a slope by the sample.
struct Uniform {
  static constexpr std::array<const char*, 2> kNames = {"low", "high"};
  static constexpr bool kContinuous = true;
  MX_HOST_DEVICE static double log_density(double, double low, double high) {
    return -std::log(high - low);
  }
  MX_HOST_DEVICE static Slopes slopes(double, double low, double high) {
    return {0, {1 / (high - low), -1 / (high - low)}};
  }
};

struct Normal {
  static constexpr std::array<const char*, 2> kNames = {"mu", "sigma"};
  static constexpr bool kContinuous = true;
  MX_HOST_DEVICE static double log_density(double x, double mu, double sigma) {
    const double z = (x - mu) / sigma;
    return -0.5 * z * z - std::log(sigma * 2.50662827463100050242);  // sqrt(2 pi)
  }
  MX_HOST_DEVICE static Slopes slopes(double x, double mu, double sigma) {
    const double z = (x - mu) / sigma;
    return {-z / sigma, {z / sigma, (z * z - 1) / sigma}};
  }
};

// beta is a rate here.
struct Gamma {
  static constexpr std::array<const char*, 2> kNames = {"alpha", "beta"};
  static constexpr bool kContinuous = true;
  MX_HOST_DEVICE static double log_density(double x, double alpha, double beta) {
    return alpha * std::log(beta) + (alpha - 1) * std::log(x) - beta * x - log_gamma(alpha);
  }
  MX_HOST_DEVICE static Slopes slopes(double x, double alpha, double beta) {
    return {(alpha - 1) / x - beta,
            {std::log(beta) + std::log(x) - log_gamma_slope(alpha), alpha / beta - x}};
  }
};

struct Exponential {
  static constexpr std::array<const char*, 1> kNames = {"lam"};
  static constexpr bool kContinuous = true;
  MX_HOST_DEVICE static double log_density(double x, double rate, double) {
    return std::log(rate) - rate * x;
  }
  MX_HOST_DEVICE static Slopes slopes(double x, double rate, double) {
    return {-rate, {1 / rate - x, 0}};
  }
};

struct Poisson {
  static constexpr std::array<const char*, 1> kNames = {"lam"};
  static constexpr bool kContinuous = false;
  MX_HOST_DEVICE static double log_density(double x, double mean, double) {
    return x * std::log(mean) - log_gamma(x + 1) - mean;
  }
  MX_HOST_DEVICE static Slopes slopes(double x, double mean, double) {
    return {0, {x / mean - 1, 0}};
  }
};

struct NegativeBinomial {
  static constexpr std::array<const char*, 2> kNames = {"k", "p"};
  static constexpr bool kContinuous = false;
  MX_HOST_DEVICE static double log_density(double x, double k, double p) {
    return log_gamma(x + k) - log_gamma(x + 1) - log_gamma(k) + k * std::log(p) +
           x * std::log1p(-p);
  }
  MX_HOST_DEVICE static Slopes slopes(double x, double k, double p) {
    return {0, {log_gamma_slope(x + k) - log_gamma_slope(k) + std::log(p), k / p - x / (1 - p)}};
  }
};

// Negative binomial with k = 1 / alpha and p = 1 / (mu alpha + 1).
struct GeneralizedNegativeBinomial {
  static constexpr std::array<const char*, 2> kNames = {"mu", "alpha"};
  static constexpr bool kContinuous = false;
  MX_HOST_DEVICE static double log_density(double x, double mu, double alpha) {
    return NegativeBinomial::log_density(x, 1 / alpha, 1 / (mu * alpha + 1));
  }
  MX_HOST_DEVICE static Slopes slopes(double x, double mu, double alpha) {
    const double p = 1 / (mu * alpha + 1);
    const Slopes slopes = NegativeBinomial::slopes(x, 1 / alpha, p);
    const double by_k = slopes.params[0], by_p = slopes.params[1];
    return {0, {-by_p * alpha * p * p, -by_k / (alpha * alpha) - by_p * mu * p * p}};
  }
};

// All of them, and how their operators' names end.
#define MX_DENSITIES(ROW)                    \
  ROW(Uniform, "uniform")                    \
  ROW(Normal, "normal")                      \
  ROW(Gamma, "gamma")                        \
  ROW(Exponential, "exponential")            \
  ROW(Poisson, "poisson")                    \
  ROW(NegativeBinomial, "negative_binomial") \
  ROW(GeneralizedNegativeBinomial, "generalized_negative_binomial")

}  // namespace mxnet::densities
