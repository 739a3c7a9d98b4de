// SPDX-License-Identifier: Apache-2.0
// The logarithm of the gamma function of doubles and its derivative, without branches. (Of floats:
// op/math/gamma_functions.h; the derivative one by one: op/math/digamma.h.) Coefficients:
// tools/fit_math.py.
#pragma once
#include <cmath>
#include <limits>

#include "op/math/vector_math.h"

namespace mxnet::row_math {

#define MX_MATH [[gnu::always_inline]] inline  // as in op/math/vector_math.h

// Near the zeros between negative integers two logarithms of almost the same size are subtracted:
// the doubt is 1 where a digit or more is lost, and 0 elsewhere.
struct LogGamma {
  double value, doubt;
};

// Off by at most 4 ulp (5 where sums of products are rounded twice), of negative numbers by 7 where
// there is no doubt. For y >= 0: about an integer n next to y it is log(gamma(2 + d)) for d = y -
// n, and the logarithm of the factors between 2 + d and n + d: near the zeros at 1 and 2 both have
// all their digits. From 6.25 on Stirling's series. Negative numbers, which only kNegative expects:
// gamma(x) gamma(1 - x) = pi / sin(pi x).
template <bool kNegative>
MX_MATH LogGamma log_gamma_of(double x) {
  // log(gamma(2 + d)) / d for -3/4 <= d <= 1/4
  constexpr double kNearTwo[] = {
      0.422784335098467139,      0.3224670334241132494,     -0.06735230105319767588,
      0.02058080842777392468,    -0.007385551028762678966,  0.002890510331695684087,
      -0.001192753903935304159,  0.0005096694948405423963,  -0.0002231550859715560893,
      0.00009945759080836898317, -0.0000449196467424134207, 0.0000205205371887959304,
      -9.487744447608211075e-6,  4.142020064879750626e-6,   -2.222970800390240171e-6,
      1.835977749878891649e-6,   2.383156890524350525e-6,   4.047446372901842306e-6,
      2.587641751847369804e-6,   8.890417043351834742e-7};
  // (log(gamma(z)) - (z - 1/2) log(z) + z - log(2 pi) / 2) z, by 1 / z^2
  constexpr double kSeries[] = {0.08333333333333331726,   -0.002777777777716152201,
                                0.000793650754856727763,  -0.0005952288712113761664,
                                0.0008406947518039721561, -0.001854122622251033139,
                                0.004422369643455036717};
  // (sin(pi r) / (pi r) - 1) / r^2 for |r| <= 1/2, by r^2
  constexpr double kSine[] = {
      -1.644934066848226436,    0.8117424252833536405,    -0.1907518241220838758,
      0.02614784781764092105,   -0.002346081035170167889, 0.0001484287897277088796,
      -6.975851212142347781e-6, 2.530327456667143453e-7,  -7.114052818770147135e-9};
  constexpr double kHalfLogOfTurnLessHalf = 0.41893853320467274178;  // (log(2 pi) - 1) / 2
  const bool mirrored = kNegative && x < 0.0;
  // Of 1 - x, which is rounded, what lies below it is exact.
  const double y = mirrored ? 1.0 - x : x, less = mirrored ? -x : y - 1.0;
  const double n = std::rint(y + 0.25), d = mirrored ? -x - (n - 1.0) : y - n;
  const bool large = y > 6.25;
  const double first = n > 2.0 ? less : 1.0, second = n > 3.0 ? less - 1.0 : 1.0;
  const double third = n > 4.0 ? less - 2.0 : 1.0, fourth = n > 5.0 ? less - 3.0 : 1.0;
  const double below = n > 0.0 ? y : y * (y + 1.0);
  const double factors = n < 2.0 ? below : (first * second) * (third * fourth);
  const double logarithm = log(large ? y : factors);
  // One term after the other: at the end of the range the first two are a third of their sum each.
  const double near = d * polynomial(kNearTwo, d);
  const double small = n < 2.0 ? near - logarithm : near + logarithm;
  const double inverse = 1.0 / y, series = inverse * polynomial(kSeries, inverse * inverse);
  const double stirling = (y - 0.5) * (logarithm - 1.0) + (kHalfLogOfTurnLessHalf + series);
  const double positive = large ? stirling : small;
  if constexpr (!kNegative) return {positive, 0.0};
  const double part = std::fabs(x - std::rint(x)), z = part * part;
  const double mirror = -log(part + part * (z * polynomial(kSine, z))) - positive;
  // Infinite at integers, of which minus infinity has no part that is a number.
  const double negative = part > 0.0 ? mirror : std::numeric_limits<double>::infinity();
  const double least = x < 0.0 ? 0.5 * positive : 0.0;
  return {x < 0.0 ? negative : positive, std::fabs(mirror) < least ? 1.0 : 0.0};
}

// Within a few ulp away from its zeros; infinite at 0 and NaN at negative integers. Below 8 by way
// of x + 8, the sum of the steps as a quotient.
MX_MATH double digamma(double x) {
  // (digamma(z) - log(z) + 1 / (2 z)) z^2 for z >= 8, by 1 / z^2
  constexpr double kSeries[] = {-0.08333333333333286405,  0.008333333331168558748,
                                -0.003968252342841619064, 0.004166217650696842053,
                                -0.00751908823074709511,  0.01771116041584653498};
  constexpr double kPi = 3.14159265358979323846;
  const double y = x < 0.0 ? 1.0 - x : x;
  // 1 / (y + k) + 1 / (y + 7 - k) = (2 y + 7) / (y (y + 7) + k (7 - k))
  const double a = y * (y + 7.0), b = a + 6.0, c = a + 10.0, e = a + 12.0, ab = a * b, ce = c * e;
  const double steps = (2.0 * y + 7.0) * ((a + b) * ce + (c + e) * ab) / (ab * ce);
  const bool small = y < 8.0;
  const double z = small ? y + 8.0 : y, inverse = 1.0 / z, square = inverse * inverse;
  const double series = square * polynomial(kSeries, square) - 0.5 * inverse;
  const double positive = (log(z) + series) - (small ? steps : 0.0);
  const double part = x - std::rint(x);
  const double mirrored = positive - kPi / near_tan(kPi * part);
  const double negative = part == 0.0 ? std::numeric_limits<double>::quiet_NaN() : mirrored;
  const double at_zero = std::copysign(std::numeric_limits<double>::infinity(), -x);
  return x == 0.0 ? at_zero : x < 0.0 ? negative : positive;
}

#undef MX_MATH

}  // namespace mxnet::row_math
