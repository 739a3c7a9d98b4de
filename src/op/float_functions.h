// SPDX-License-Identifier: Apache-2.0
// Functions of float evaluated in double, where a short series is exact to a hundredth of an ulp of
// float and nothing overflows on the way; free of branches, so that the loops of the rows
// vectorise. Functions of double are the C library's where it has them. Coefficients:
// tools/fit_math.py.
#pragma once
#include <cmath>

#include "op/vector_math.h"

namespace mxnet::row_math {

#define MX_MATH [[gnu::always_inline]] inline  // as in op/vector_math.h

namespace in_double {

inline constexpr double kPi = 3.14159265358979323846, kLn2 = 0.693147180559945309417;

MX_MATH double magnitude(double x) { return x < 0 ? -x : x; }
// `y` with the sign of x, zero included; y is not negative.
MX_MATH double signed_as(double y, double x) { return std::copysign(y, x); }

// Of normal positive numbers.
MX_MATH double log(double x) {
  constexpr double kSeries[] = {2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11};
  using C = MathConstants<double>;
  const auto base = std::bit_cast<uint64_t>(0.70710678118654752440);
  const auto bits = std::bit_cast<uint64_t>(x);
  const auto e = static_cast<int64_t>(bits - base) >> C::kMantissa;
  const auto mantissa = std::bit_cast<double>(bits - (static_cast<uint64_t>(e) << C::kMantissa));
  const double whole = std::bit_cast<double>(std::bit_cast<int64_t>(C::kRound) + e) - C::kRound;
  const double f = mantissa - 1, s = f / (2 + f), z = s * s;
  return whole * kLn2 + (2 * s + s * z * polynomial(kSeries, z));
}
// Of numbers between -700 and 700, and of NaN.
MX_MATH double exp(double x) {
  constexpr double kSeries[] = {1.0,       1.0,       1.0 / 2,    1.0 / 6,    1.0 / 24,
                                1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320};
  using C = MathConstants<double>;
  const double shifted = x * (1 / kLn2) + C::kRound;
  const int64_t n = std::bit_cast<int64_t>(shifted) - std::bit_cast<int64_t>(C::kRound);
  return polynomial(kSeries, x - (shifted - C::kRound) * kLn2) * power_of_two<double>(n);
}

// Of numbers in [0, 1].
MX_MATH double arc_tangent(double t) {
  constexpr double kSeries[] = {0.99999999999029167,   -0.33333332995052178,  0.19999980353730756,
                                -0.14285262493221769,  0.11105656196305431,   -0.090511372874045917,
                                0.075022314915931733,  -0.060385487360810461, 0.043902873109927933,
                                -0.026271579148096767, 0.011602326377576273,  -0.003261487211470224,
                                0.00043016498755300079};
  return t * polynomial(kSeries, t * t);
}
// (asin(sqrt(z)) / sqrt(z) - 1) / z for z in [0, 1/4].
MX_MATH double arc_sine_series(double z) {
  constexpr double kSeries[] = {0.1666666666674342,   0.074999999509438884,   0.044642908585811968,
                                0.03037987704484176,  0.022413496825672595,   0.016893418344802398,
                                0.016908122698923488, 0.00095862504366902936, 0.028456058103870784};
  return polynomial(kSeries, z);
}
// arcsin(a) for a <= 1/2, half of arccos(a) from there; NaN beyond 1.
MX_MATH double near_or_half_angle(double a) {
  const double half = (1 - a) * 0.5, root = std::sqrt(half);
  const double sine = a > 0.5 ? root : a, z = a > 0.5 ? half : a * a;
  return sine + sine * z * arc_sine_series(z);
}

}  // namespace in_double

#define MX_OF_DOUBLE(name) \
  inline double name(double x) { return std::name(x); }
MX_OF_DOUBLE(acos)
MX_OF_DOUBLE(acosh)
MX_OF_DOUBLE(asin)
MX_OF_DOUBLE(asinh)
MX_OF_DOUBLE(atan)
MX_OF_DOUBLE(atanh)
MX_OF_DOUBLE(cbrt)
MX_OF_DOUBLE(cosh)
MX_OF_DOUBLE(log10)
MX_OF_DOUBLE(log2)
MX_OF_DOUBLE(sinh)
#undef MX_OF_DOUBLE

MX_MATH float asin(float number) {
  const double x = double{number}, a = in_double::magnitude(x);
  const double angle = in_double::near_or_half_angle(a);
  const double y = a > 0.5 ? in_double::kPi / 2 - 2 * angle : angle;
  return static_cast<float>(in_double::signed_as(y, x));
}
MX_MATH float acos(float number) {
  const double x = double{number}, a = in_double::magnitude(x);
  const double angle = in_double::near_or_half_angle(a);
  const double near = in_double::kPi / 2 - (x < 0 ? -angle : angle);
  const double far = x < 0 ? in_double::kPi - 2 * angle : 2 * angle;
  return static_cast<float>(a > 0.5 ? far : near);
}
MX_MATH float atan(float number) {
  const double x = double{number}, a = in_double::magnitude(x);
  const bool steep = a > 1;
  const double angle = in_double::arc_tangent(steep ? 1 / a : a);
  const double y = in_double::signed_as(steep ? in_double::kPi / 2 - angle : angle, x);
  return number != number ? number : static_cast<float>(y);
}
MX_MATH float asinh(float number) {
  constexpr double kSeries[] = {
      0.99999999999988881,   -0.16666666659376075,  0.074999992106501364,
      -0.044642526638469315, 0.030374965262984213,  -0.022288459500837113,
      0.016751600369344657,  -0.011349390550284552, 0.0048215650100999944};
  const double x = double{number}, a = in_double::magnitude(x), z = a * a;
  const double near = a * polynomial(kSeries, z);
  const double y = a < 0.5 ? near : in_double::log(a + std::sqrt(z + 1));
  const bool finite = a < std::numeric_limits<double>::infinity();
  return finite ? static_cast<float>(in_double::signed_as(y, x)) : number;
}
MX_MATH float acosh(float number) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const double t = double{number} - 1;
  const double y = in_double::log(1 + (t + std::sqrt(t * (t + 2))));
  const float special = number == kInf ? number : std::numeric_limits<float>::quiet_NaN();
  return ((number >= 1) & (number < kInf)) ? static_cast<float>(y) : special;
}
MX_MATH float atanh(float number) {
  constexpr double kSeries[] = {0.99999999999967277,  0.33333333359176356,  0.19999996641571718,
                                0.14285882952640756,  0.11106831735729104,  0.091527953854436312,
                                0.071540023800783722, 0.095049298839396383, -0.027939433297188123,
                                0.18452910373068909};
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const double x = double{number}, a = in_double::magnitude(x);
  const double near = a * polynomial(kSeries, a * a);
  const double y = a < 0.5 ? near : 0.5 * in_double::log((1 + a) / (1 - a));
  const float special =
      a == 1 ? std::copysign(kInf, number) : std::numeric_limits<float>::quiet_NaN();
  return a < 1 ? static_cast<float>(in_double::signed_as(y, x)) : special;
}
MX_MATH float cosh(float number) {
  const double a = in_double::magnitude(double{number});
  const double e = in_double::exp(a > 100 ? 100 : a);
  return static_cast<float>(0.5 * (e + 1 / e));
}
MX_MATH float sinh(float number) {
  constexpr double kSeries[] = {1.0, 1.0 / 6, 1.0 / 120, 1.0 / 5040, 1.0 / 362880, 1.0 / 39916800};
  const double x = double{number}, a = in_double::magnitude(x);
  const double e = in_double::exp(a > 100 ? 100 : a);
  const double y = a < 1 ? a * polynomial(kSeries, a * a) : 0.5 * (e - 1 / e);
  return static_cast<float>(in_double::signed_as(y, x));
}
MX_MATH float cbrt(float number) {
  const double x = double{number}, a = in_double::magnitude(x);
  const double y = in_double::signed_as(in_double::exp(in_double::log(a) * (1.0 / 3)), x);
  const bool special = (number == 0) | !(a < std::numeric_limits<double>::infinity());
  return special ? number : static_cast<float>(y);
}

namespace in_double {
// The logarithm to another base, whose natural one is 1 / factor.
MX_MATH float log_to_base(float number, double factor) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const double y = log(double{number}) * factor;
  const float special = number == 0  ? -kInf
                        : number > 0 ? number
                                     : std::numeric_limits<float>::quiet_NaN();
  return ((number > 0) & (number < kInf)) ? static_cast<float>(y) : special;
}
}  // namespace in_double
MX_MATH float log2(float x) { return in_double::log_to_base(x, 1.44269504088896340736); }
MX_MATH float log10(float x) { return in_double::log_to_base(x, 0.43429448190325182765); }

// The angle of the point (x, y).
MX_MATH float atan2(float y_number, float x_number) {
  const double y = double{y_number}, x = double{x_number};
  const double a = in_double::magnitude(y), b = in_double::magnitude(x);
  const double less = a < b ? a : b, more = a < b ? b : a;
  // 0 / 0 is 0 and infinity / infinity is 1 here.
  const double ratio = less == more ? (more == 0 ? 0.0 : 1.0) : less / more;
  const double first = in_double::arc_tangent(ratio);
  const double upper = a > b ? in_double::kPi / 2 - first : first;
  const double angle = std::copysign(1.0, x) < 0 ? in_double::kPi - upper : upper;
  const float result = static_cast<float>(in_double::signed_as(angle, y));
  return ((x != x) | (y != y)) ? x_number + y_number : result;
}
inline double atan2(double y, double x) { return std::atan2(y, x); }

namespace in_double {
// erfinv(x) / x for w = -log(1 - x^2): about 3.125 below 6.25, about the middle of a range of roots
// from there.
MX_MATH double inverse_erf(double x, double w) {
  constexpr double kNear[] = {
      1.6536545626831027,      0.24015818242558971,    -0.0060336708714270113,
      -0.00074070253416694011, 0.00018673420802124272, -1.3882523361276876e-5,
      -1.3654691796592068e-6,  4.2347877672780653e-7,  -2.9070386660191429e-8,
      -4.1126331042976139e-9,  1.0512202440121784e-9,  -5.4154417754696635e-11,
      -1.2977505202014967e-11, 2.6335724924608484e-12, -8.1065944564384951e-14,
      -4.0554139746886005e-14, 6.5819553059292389e-15, 2.166994626283574e-17,
      -1.290702354613073e-16,  1.1125794759379465e-17, 1.1027771591500033e-18,
      -1.6787330615256772e-19, -2.3623696985661074e-22};
  constexpr double kMiddle[] = {
      3.0838856104922207,     1.0052589676941592,     0.0053709145535581983,
      -0.0037512085075638538, 0.0024914420976198812,  -0.0016882755561681803,
      0.00095328935211181778, -0.0003550375186306976, 2.4031363245440548e-5,
      6.8284840522929234e-5,  -4.731952918337189e-5,  1.2475343474376931e-5,
      2.9273722115986926e-6,  -4.0139463981902919e-6, 1.4958263152984917e-6,
      1.8323999881328578e-8,  -2.6860975725571461e-7, 9.0719505710299225e-8,
      -3.8310399460724114e-10};
  constexpr double kFar[] = {
      4.9004210514436404,      1.0102850175977564,     -0.00016985809148478998,
      -0.00020031200599107476, 7.1240315046186467e-5,  -1.8374544958981781e-5,
      4.193858544647827e-6,    -9.0703542160834617e-7, 2.0159168167983673e-7,
      -5.5085769823591833e-8,  2.1904751298638967e-8,  -1.0942531106983762e-8,
      5.6634737260983446e-9,   -2.8908674010944192e-9, 1.1876195494584009e-9,
      -2.5176228666522997e-10, 5.1805705472647007e-12};
  const double root = std::sqrt(w);
  const double far = root < 4 ? polynomial(kMiddle, root - 3.25) : polynomial(kFar, root - 5.05);
  return x * (w < 6.25 ? polynomial(kNear, w - 3.125) : far);
}
// To a hundredth of an ulp of float, of whose numbers none but one is closer to 1 than 2^-24.
MX_MATH double inverse_erf_of_float(double x, double w) {
  constexpr double kNear[] = {
      1.6536545626831027,      0.24015817844735165,    -0.006033671032285515,
      -0.00074069103254301951, 0.00018673466051691628, -1.3892141245923011e-5,
      -1.3658217507589213e-6,  4.2698513895053386e-7,  -2.895896037948332e-8,
      -4.7527456191519948e-9,  1.0363882341451174e-9,  5.6882164791170869e-12,
      -1.2570814414523687e-11};
  constexpr double kFar[] = {
      3.0838856104922207,     1.005258971568844,       0.0053709174764286261,
      -0.0037513486016121081, 0.0024913388265205358,   -0.0016868211634542168,
      0.00095430058937306552, -0.00036143798929837442, 2.0064172226928821e-5,
      8.1572613292566334e-5,  -4.0842555676459073e-5};
  const double far = polynomial(kFar, std::sqrt(w) - 3.25);
  return x * (w < 6.25 ? polynomial(kNear, w - 3.125) : far);
}
}  // namespace in_double
MX_MATH double erfinv(double x) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double a = in_double::magnitude(x);
  const double special = a == 1 ? std::copysign(kInf, x) : std::numeric_limits<double>::quiet_NaN();
  return a < 1 ? in_double::inverse_erf(x, -log((1 - a) * (1 + a))) : special;
}
MX_MATH float erfinv(float number) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const double x = double{number}, a = in_double::magnitude(x);
  const double y = in_double::inverse_erf_of_float(x, -in_double::log((1 - a) * (1 + a)));
  const float special =
      a == 1 ? std::copysign(kInf, number) : std::numeric_limits<float>::quiet_NaN();
  return a < 1 ? static_cast<float>(y) : special;
}

#undef MX_MATH

}  // namespace mxnet::row_math
