// SPDX-License-Identifier: Apache-2.0
// The derivative of lgamma, which the C library does not have.
#pragma once
#include <cmath>
#include <limits>

#include "base/host_device.h"

namespace mxnet {

// Within a few ulp away from its zeros; infinite at 0 and NaN at negative integers. Recurrence up
// to 10, then the asymptotic series; reflection for negative arguments.
MX_HOST_DEVICE inline double digamma(double x) {
  constexpr double kPi = 3.14159265358979323846;
  if (x == 0.0) return std::copysign(std::numeric_limits<double>::infinity(), -x);
  if (x < 0.0) {
    // From the nearest integer, which is exact, also next to zero: of a large angle pi takes the
    // last digits, and of a small number its distance from -1 has none.
    const double part = x - std::rint(x);
    if (part == 0.0) return std::numeric_limits<double>::quiet_NaN();
    return digamma(1.0 - x) - kPi / std::tan(kPi * part);
  }
  double below = 0.0;
  for (; x < 10.0; x += 1.0) below -= 1.0 / x;
  const double z = 1.0 / (x * x);
  // Bernoulli numbers B2k / 2k; at 10 the first omitted term is below 1e-16.
  const double series =
      z * (1.0 / 12 - z * (1.0 / 120 -
                           z * (1.0 / 252 -
                                z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12))))));
  return below + std::log(x) - 0.5 / x - series;
}

}  // namespace mxnet
