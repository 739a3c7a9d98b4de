// SPDX-License-Identifier: Apache-2.0
// How far a number is from the exact one.
#pragma once
#include <cmath>
#include <limits>

namespace mxnet {

// Distance from the exact value in units of the last place of the type at that value.
template <class T>
double ulps_off(T got, long double exact) {
  const T nearest = static_cast<T>(exact);
  if (std::isnan(nearest) || std::isnan(got))
    return std::isnan(nearest) && std::isnan(got) ? 0.0 : INFINITY;
  if (got == nearest) return std::signbit(got) == std::signbit(nearest) ? 0.0 : INFINITY;
  // One past the largest number counts as one unit.
  const auto finite = [](T v) {
    return std::isinf(v) ? std::copysign(std::numeric_limits<T>::max(), v) : v;
  };
  const T at = std::fabs(finite(nearest));
  const T unit = at - std::nextafter(at, T(0));
  const long double target =
      std::isinf(nearest) ? static_cast<long double>(finite(nearest)) : exact;
  return static_cast<double>(
      std::fabs(static_cast<long double>(finite(got)) - target) /
      static_cast<long double>(at == T(0) ? std::numeric_limits<T>::denorm_min() : unit));
}

}  // namespace mxnet
