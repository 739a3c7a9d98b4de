// SPDX-License-Identifier: Apache-2.0
// The gamma function of floats and its logarithm, without branches: in double, whose digits cover
// what the formulas lose. The C library's, which doubles have, go through cases one by one.
#pragma once
#include <cmath>
#include <limits>

#include "op/math/vector_math.h"

namespace mxnet::row_math {

#define MX_MATH [[gnu::always_inline]] inline  // as in op/math/vector_math.h

namespace in_double {
// log(gamma(z)) for z >= 8 by Stirling's series, of whose terms the first left out is below 1e-15.
MX_MATH double stirling(double z) {
  constexpr double kSeries[] = {1.0 / 12,   -1.0 / 360,      1.0 / 1260, -1.0 / 1680,
                                1.0 / 1188, -691.0 / 360360, 1.0 / 156};
  constexpr double kHalfLogOfTurn = 0.91893853320467274178;  // log(2 pi) / 2
  const double inverse = 1.0 / z;
  return (z - 0.5) * log(z) - z +
         (kHalfLogOfTurn + inverse * polynomial(kSeries, inverse * inverse));
}

// gamma(y) = exp(log) / product for y >= 0: below 8 by way of gamma(y + 8).
struct GammaParts {
  double log, product;
};
MX_MATH GammaParts gamma_parts(double y) {
  const bool small = y < 8.0;
  const double pairs = y * (y + 7.0);  // the factors y + k and y + 7 - k have y^2 + 7 y in common
  const double product = (pairs * (pairs + 6.0)) * ((pairs + 10.0) * (pairs + 12.0));
  return {stirling(small ? y + 8.0 : y), small ? product : 1.0};
}

inline constexpr double kPi = 3.14159265358979323846;
// sin(pi y) without its sign, zero at all integers.
MX_MATH double sine_of_turns(double y, double nearest) {
  const double sine = near_sin(kPi * (y - nearest));
  return sine < 0.0 ? -sine : sine;
}
}  // namespace in_double

// Negative numbers by reflection: gamma(-y) gamma(y) = -pi / (y sin(pi y)).
MX_MATH float lgamma(float x) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double y = std::fabs(double{x});
  const bool finite = y < kInf;
  const double kept = finite ? y : 1.0;
  const in_double::GammaParts parts = in_double::gamma_parts(kept);
  const double sine = in_double::sine_of_turns(kept, std::rint(kept));
  // Of an infinite quotient, at zero and negative integers, the logarithm is infinite.
  const double quotient =
      x < 0.0f ? in_double::kPi * parts.product / (kept * sine) : 1.0 / parts.product;
  const double sum = (x < 0.0f ? -parts.log : parts.log) + log(quotient);
  // What is left of the digits at the zeros 1 and 2.
  const double result = ((x == 1.0f) | (x == 2.0f)) ? 0.0 : sum;
  return finite ? static_cast<float>(result) : x * x;
}

// NaN at negative integers and minus infinity, as the C library has it.
MX_MATH float gamma(float number) {
  constexpr double kEnd = 200.0;  // floats overflow long before, and vanish for negative numbers
  const double x = number, y = std::fabs(x);
  const in_double::GammaParts parts = in_double::gamma_parts(y > kEnd ? kEnd : y);
  const double whole = exp_moderate(parts.log > 700.0 ? 700.0 : parts.log);
  const double nearest = std::rint(y), half = 0.5 * nearest;
  // -1 / sin(pi y) is positive between an odd and the next even integer, and 0 / 0 at integers.
  const double part = y - nearest, turn = half - std::rint(half);
  const double sign = (turn == 0.0) == (part < 0.0) ? 1.0 : -1.0;
  const double sine = in_double::sine_of_turns(y, nearest);
  const double mirrored = sine * sign * in_double::kPi * parts.product / (sine * sine * y * whole);
  const double positive = std::copysign(whole / parts.product, x);
  return static_cast<float>(x < 0.0 ? mirrored : positive);
}

#undef MX_MATH

}  // namespace mxnet::row_math
