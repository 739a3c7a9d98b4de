// SPDX-License-Identifier: Apache-2.0
// Logarithms of densities and their slopes, for one set of parameters and many samples.
#pragma once
#include <array>
#include <cmath>

#include "base/host_device.h"
#include "base/log_gamma.h"
#include "op/math/digamma.h"

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

// Each is made of a set of parameters, of which a row of samples shares what depends on them alone.
// `slopes` says whether those are asked for. Samples come with their logarithm where kUsesLog.
// kNames: the parameters. kContinuous: whether there is a slope by the sample.
struct Uniform {
  static constexpr std::array<const char*, 2> kNames = {"low", "high"};
  static constexpr bool kContinuous = true, kUsesLog = false;

  MX_HOST_DEVICE Uniform(double low, double high, bool)
      : density_(1 / (high - low)), log_density_(-std::log(high - low)) {}
  MX_HOST_DEVICE double log_density(double, double) const { return log_density_; }
  MX_HOST_DEVICE Slopes slopes(double, double) const { return {0, {density_, -density_}}; }

 private:
  double density_, log_density_;
};

struct Normal {
  static constexpr std::array<const char*, 2> kNames = {"mu", "sigma"};
  static constexpr bool kContinuous = true, kUsesLog = false;

  MX_HOST_DEVICE Normal(double mu, double sigma, bool)
      : mu_(mu),
        sigma_(sigma),
        inverse_(1 / sigma),
        log_width_(std::log(sigma * 2.50662827463100050242)) {}  // sqrt(2 pi)
  MX_HOST_DEVICE double log_density(double x, double) const {
    const double z = (x - mu_) / sigma_;
    return -0.5 * z * z - log_width_;
  }
  MX_HOST_DEVICE Slopes slopes(double x, double) const {
    const double z = (x - mu_) / sigma_, slope = z * inverse_;
    return {-slope, {slope, (z * z - 1) * inverse_}};
  }

 private:
  double mu_, sigma_, inverse_, log_width_;
};

// beta is a rate here.
struct Gamma {
  static constexpr std::array<const char*, 2> kNames = {"alpha", "beta"};
  static constexpr bool kContinuous = true, kUsesLog = true;

  MX_HOST_DEVICE Gamma(double alpha, double beta, bool slopes)
      : less_(alpha - 1),
        beta_(beta),
        mean_(alpha / beta),
        log_factor_(alpha * std::log(beta) - log_gamma(alpha)),
        by_alpha_(slopes ? std::log(beta) - log_gamma_slope(alpha) : 0) {}
  MX_HOST_DEVICE double log_density(double x, double log_x) const {
    return less_ * log_x - beta_ * x + log_factor_;
  }
  MX_HOST_DEVICE Slopes slopes(double x, double log_x) const {
    return {less_ / x - beta_, {log_x + by_alpha_, mean_ - x}};
  }

 private:
  double less_, beta_, mean_, log_factor_, by_alpha_;
};

struct Exponential {
  static constexpr std::array<const char*, 1> kNames = {"lam"};
  static constexpr bool kContinuous = true, kUsesLog = false;

  MX_HOST_DEVICE Exponential(double rate, double, bool)
      : rate_(rate), mean_(1 / rate), log_rate_(std::log(rate)) {}
  MX_HOST_DEVICE double log_density(double x, double) const { return log_rate_ - rate_ * x; }
  MX_HOST_DEVICE Slopes slopes(double x, double) const { return {-rate_, {mean_ - x, 0}}; }

 private:
  double rate_, mean_, log_rate_;
};

struct Poisson {
  static constexpr std::array<const char*, 1> kNames = {"lam"};
  static constexpr bool kContinuous = false, kUsesLog = false;

  MX_HOST_DEVICE Poisson(double mean, double, bool) : mean_(mean), log_mean_(std::log(mean)) {}
  MX_HOST_DEVICE double log_density(double x, double) const {
    return x * log_mean_ - log_gamma(x + 1) - mean_;
  }
  MX_HOST_DEVICE Slopes slopes(double x, double) const { return {0, {x / mean_ - 1, 0}}; }

 private:
  double mean_, log_mean_;
};

struct NegativeBinomial {
  static constexpr std::array<const char*, 2> kNames = {"k", "p"};
  static constexpr bool kContinuous = false, kUsesLog = false;

  MX_HOST_DEVICE NegativeBinomial(double k, double p, bool slopes)
      : k_(k),
        others_(1 - p),
        odds_(k / p),
        log_factor_(k * std::log(p) - log_gamma(k)),
        log_others_(std::log1p(-p)),
        by_k_(slopes ? std::log(p) - log_gamma_slope(k) : 0) {}
  MX_HOST_DEVICE double log_density(double x, double) const {
    return log_gamma(x + k_) - log_gamma(x + 1) + log_factor_ + x * log_others_;
  }
  MX_HOST_DEVICE Slopes slopes(double x, double) const {
    return {0, {log_gamma_slope(x + k_) + by_k_, odds_ - x / others_}};
  }

 private:
  double k_, others_, odds_, log_factor_, log_others_, by_k_;
};

// Negative binomial with k = 1 / alpha and p = 1 / (mu alpha + 1).
struct GeneralizedNegativeBinomial {
  static constexpr std::array<const char*, 2> kNames = {"mu", "alpha"};
  static constexpr bool kContinuous = false, kUsesLog = false;

  MX_HOST_DEVICE GeneralizedNegativeBinomial(double mu, double alpha, bool slopes)
      : mu_(mu), alpha_(alpha), p_(1 / (mu * alpha + 1)), plain_(1 / alpha, p_, slopes) {}
  MX_HOST_DEVICE double log_density(double x, double log_x) const {
    return plain_.log_density(x, log_x);
  }
  MX_HOST_DEVICE Slopes slopes(double x, double log_x) const {
    const Slopes plain = plain_.slopes(x, log_x);
    const double by_k = plain.params[0], by_p = plain.params[1];
    return {0, {-by_p * alpha_ * p_ * p_, -by_k / (alpha_ * alpha_) - by_p * mu_ * p_ * p_}};
  }

 private:
  double mu_, alpha_, p_;
  NegativeBinomial plain_;
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
