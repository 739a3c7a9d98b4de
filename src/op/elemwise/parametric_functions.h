// SPDX-License-Identifier: Apache-2.0
// Elementwise functions with parameters, for loops of the CPU and for kernels: what their operators
// are declared with, and what they do to one element. C is the type that is computed in; most
// numbers of the parameters have been converted to it.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

#include "base/dtype.h"
#include "base/host_device.h"

namespace mxnet {

struct SmoothL1Params {
  double scalar;
};
struct HardSigmoidParams {
  float alpha, beta;
};
struct QuadraticParams {
  float a, b, c;
};
struct AroundParams {
  int32_t decimals;
  bool whole_digits() const { return decimals < 0; }
  double scale() const { return std::pow(10.0, std::abs(static_cast<double>(decimals))); }
};
struct NanToNumParams {
  bool copy;
  double nan;
  std::optional<double> posinf, neginf;
  double high(DType dtype) const { return posinf.value_or(largest(dtype)); }
  double low(DType dtype) const { return neginf.value_or(-largest(dtype)); }

 private:
  static double largest(DType dtype) {
    if (dtype == DType::kFloat64) return std::numeric_limits<double>::max();
    if (dtype == DType::kFloat16) return 65504.0;
    constexpr double kLargestBFloat16 = 3.3895313892515355e38;
    return dtype == DType::kBFloat16 ? kLargestBFloat16
                                     : static_cast<double>(std::numeric_limits<float>::max());
  }
};

namespace parametric {

#define MX_FUNCTION  \
  template <class C> \
  MX_HOST_DEVICE inline C

// Of integers the whole part, as any other number is converted to their type.
MX_FUNCTION whole_part(double y) {
  if constexpr (std::is_integral_v<C> && sizeof(C) < sizeof(int32_t))
    return static_cast<C>(static_cast<int32_t>(y));
  else
    return static_cast<C>(y);
}

// Quadratic within 1 / square of zero, linear outside; square is scalar * scalar.
MX_FUNCTION smooth_l1(C x, C square) {
  using Number = std::conditional_t<std::is_integral_v<C>, double, C>;
  const auto number = static_cast<Number>(x);  // before the sign: the smallest has no opposite
  const Number size = number < Number(0) ? -number : number;
  const Number scale = static_cast<Number>(square);
  const Number outside = size - Number(0.5) / scale, inside = Number(0.5) * size * size * scale;
  const Number y = size > Number(1) / scale ? outside : inside;
  if constexpr (std::is_integral_v<C>)
    return whole_part<C>(y);
  else
    return y;
}
MX_FUNCTION smooth_l1_slope(C dy, C x, C square) {
  using Number = std::conditional_t<std::is_integral_v<C>, double, C>;
  const auto number = static_cast<Number>(x);
  const Number size = number < Number(0) ? -number : number;
  const bool outside = size > Number(1) / static_cast<Number>(square);
  const C sign = x > C(0) ? C(1) : x < C(0) ? C(-1) : C(0);
  if constexpr (std::is_integral_v<C>) {
    // Low bits, as those of other products of integers.
    using U = std::make_unsigned_t<C>;
    const uint64_t slope = outside ? static_cast<uint64_t>(sign)
                                   : static_cast<uint64_t>(square) * static_cast<uint64_t>(x);
    return static_cast<C>(static_cast<U>(static_cast<uint64_t>(dy) * slope));
  } else {
    return dy * (outside ? sign : square * x);
  }
}

MX_FUNCTION hard_sigmoid(C x, C alpha, C beta) {
  // Two selections of which neither is inside of the other become instructions without a branch.
  const C line = alpha * x + beta, above = line < C(0) ? C(0) : line;
  return above > C(1) ? C(1) : above;
}
MX_FUNCTION hard_sigmoid_slope(C dy, C x, C alpha, C beta) {
  const C line = alpha * x + beta;
  return ((line > C(0)) & (line < C(1))) ? dy * alpha : C(0);
}

// Integers are computed in double, with the coefficients as given, and cut.
MX_FUNCTION quadratic(C x, double a, double b, double c) {
  if constexpr (std::is_integral_v<C>) {
    const auto number = static_cast<double>(x);
    return whole_part<C>((a * number + b) * number + c);
  } else {
    return (static_cast<C>(a) * x + static_cast<C>(b)) * x + static_cast<C>(c);
  }
}

// Ties go to the even neighbour, as in NumPy. The whole digits of integers are cut off; 10^3 is
// more than int8 can hold.
MX_FUNCTION around(C x, double scale, bool whole_digits) {
  if constexpr (std::is_integral_v<C>) {
    constexpr double kMost = 1e18;
    if (!whole_digits) return x;
    const auto by = static_cast<int64_t>(scale < kMost ? scale : kMost);
    return static_cast<C>(static_cast<int64_t>(x) / by * by);
  } else {
    const C by = static_cast<C>(scale);
    return whole_digits ? std::nearbyint(x / by) * by : std::nearbyint(x * by) / by;
  }
}

MX_FUNCTION nan_to_num(C x, double nan, double high, double low) {
  if constexpr (std::is_integral_v<C>) {
    return x;
  } else {
    constexpr C kInf = std::numeric_limits<C>::infinity();
    return x != x       ? static_cast<C>(nan)
           : x == kInf  ? static_cast<C>(high)
           : x == -kInf ? static_cast<C>(low)
                        : x;
  }
}
MX_FUNCTION nan_to_num_slope(C dy, C x) { return x - x == C(0) ? dy : C(0); }

// A root that an integer type cannot hold divides nothing.
MX_FUNCTION divided(C x, C by) {
  if constexpr (std::is_integral_v<C>)
    return by == C(0) ? C(0) : static_cast<C>(x / by);
  else
    return x / by;
}

#undef MX_FUNCTION

}  // namespace parametric
}  // namespace mxnet
