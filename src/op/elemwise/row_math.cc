// SPDX-License-Identifier: Apache-2.0
// Functions that the C library does not have.
#include "op/elemwise/row_math.h"

#include <limits>
#include <numbers>

#include "op/digamma.h"

namespace mxnet::row_math {

double digamma(double x) { return mxnet::digamma(x); }

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
