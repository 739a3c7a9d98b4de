// SPDX-License-Identifier: Apache-2.0
// Functions that the C library does not have.
#include "op/elemwise/row_math.h"

#include <limits>
#include <numbers>

namespace mxnet::row_math {
// Recurrence up to 10, then the asymptotic series; reflection for negative arguments.
double digamma(double x) {
  if (x == 0.0) return std::copysign(std::numeric_limits<double>::infinity(), -x);
  if (x < 0.0) {
    const double fraction = x - std::floor(x);
    if (fraction == 0.0) return std::numeric_limits<double>::quiet_NaN();
    return digamma(1.0 - x) - std::numbers::pi / std::tan(std::numbers::pi * x);
  }
  double result = 0.0;
  for (; x < 10.0; x += 1.0) result -= 1.0 / x;
  const double z = 1.0 / (x * x);
  // Bernoulli numbers B2k / 2k.
  const double series =
      z * (1.0 / 12 - z * (1.0 / 120 -
                           z * (1.0 / 252 -
                                z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12))))));
  return result + std::log(x) - 0.5 / x - series;
}

// A rough start from the logarithm, then Newton steps of second order on erf, which converge
// cubically.
double erfinv(double x) {
  if (!(x > -1.0 && x < 1.0)) {
    if (x == 1.0 || x == -1.0) return std::copysign(std::numeric_limits<double>::infinity(), x);
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (x == 0.0) return x;
  constexpr double a = 0.147;  // Winitzki's approximation, good to 2e-3
  const double ln = std::log1p(-x * x);
  const double b = 2.0 / (std::numbers::pi * a) + 0.5 * ln;
  double y = std::copysign(std::sqrt(std::sqrt(b * b - ln / a) - b), x);
  for (int i = 0; i < 3; ++i) {
    // Near one, erfc keeps the digits that erf has lost.
    const double residual = std::fabs(x) < 0.5
                                ? std::erf(y) - x
                                : sign(x) * ((1.0 - std::fabs(x)) - std::erfc(std::fabs(y)));
    const double step = residual / (2.0 * std::numbers::inv_sqrtpi * std::exp(-y * y));
    y -= step / (1.0 + y * step);
  }
  return y;
}

}  // namespace mxnet::row_math
