// SPDX-License-Identifier: Apache-2.0
// Inverse circular and hyperbolic functions, logarithms to other bases and cube roots, as those of
// op/math/vector_math.h are: without branches, at most 2 ulp off
// (tests/op/math/vector_math_test.cc). Coefficients: tools/fit_math.py.
#pragma once
#include <cmath>

#include "op/math/vector_math.h"

namespace mxnet::row_math {

#define MX_MATH [[gnu::always_inline]] inline  // as in op/math/vector_math.h

// Series are (f(x) / x - 1) / x^2 in x^2, so that x itself is exact in x + x^3 * series.
template <class T>
struct ElementaryConstants;
template <>
struct ElementaryConstants<float> {
  static constexpr float kArcSine[] = {0.1666667241f, 0.07498855073f, 0.04500138007f,
                                       0.02655454221f, 0.03808502356f};
  static constexpr float kArcTangent[] = {-0.3333333173f,  0.1999973933f,  -0.1427856875f,
                                          0.1103376412f,   -0.0865688043f, 0.06250169445f,
                                          -0.03587153898f, 0.01350777143f, -0.002386997317f};
  static constexpr float kAreaSine[] = {-0.1666666452f,   0.07499723267f,  -0.04458282391f,
                                        0.02987024611f,   -0.02013265287f, 0.01161817842f,
                                        -0.004601466392f, 0.0008715299814f};
  static constexpr float kAreaTangent[] = {0.3333333168f, 0.2000047331f,  0.1426397985f,
                                           0.1146987516f, 0.06493489568f, 0.1575178026f};
  static constexpr float kSineHyperbolic[] = {0.1666666665f, 0.008333339676f, 0.0001983810197f,
                                              2.806280258e-6f};
  // What rounding took from pi/2, as a part of it.
  static constexpr float kQuarterRest = -2.7827534e-8f;
  static constexpr float kLarge = 0x1p12f;  // x^2 + 1 has the same root as x^2 from here
  // 1 / cbrt(m) for m in [1, 2), and the series of (1 - h)^(-1/3).
  static constexpr float kRootStart[] = {1.383505919f, -0.4768420562f, 0.09126116885f};
  static constexpr float kRootStep[] = {1.0f, 1.0f / 3, 2.0f / 9};
  static constexpr int kTinyThirds = 8;  // 2^(3 * this) makes subnormal numbers normal
  static constexpr float kLog10Of2High = 0x1.344p-2f, kLog10Of2Low = 4.605038981e-6f;
};
template <>
struct ElementaryConstants<double> {
  static constexpr double kArcSine[] = {
      0.1666666666666666783,  0.07499999999998432933, 0.04464285714635542978,
      0.03038194413853124729, 0.02237217294214988787, 0.01735239272086997294,
      0.0139712129735529333,  0.0114791774151849059,  0.01032281435018577929,
      0.0054575067186403583,  0.01740087944269402244, -0.01485188707124720322,
      0.02875785136742156471};
  static constexpr double kArcTangent[] = {
      -0.3333333333333333283,    0.199999999999995532,     -0.1428571428564840404,
      0.1111111110723479901,     -0.09090908969557403136,  0.07692305354678654812,
      -0.06666636435777692702,   0.05882074956371294569,   -0.052612657357094544,
      0.04752086773576656136,    -0.04308119655330471268,  0.03872640214042632453,
      -0.03375013200161973426,   0.02756794229734467666,   -0.02023870698639351579,
      0.01275617290769429747,    -0.006575683344151698632, 0.002622977891906089023,
      -0.0007518472526973821523, 0.0001368724853148122,    -0.00001183250541755569279};
  static constexpr double kAreaSine[] = {
      -0.1666666666666666623,     0.07499999999999649403,    -0.04464285714238817794,
      0.03038194441942380439,     -0.02237215838122577855,   0.01735275205287958392,
      -0.01396469924481465984,    0.01155060322351374933,    -0.009754280991410613289,
      0.008356255869546386723,    -0.007189420711987433164,  0.006095783994116536732,
      -0.004935569614321599607,   0.003655852951551964219,   -0.002357616449091540679,
      0.001255234080439335414,    -0.0005199592749186916201, 0.0001551697396188628673,
      -0.00002943031243199129204, 2.649477713458171682e-6};
  static constexpr double kAreaTangent[] = {
      0.3333333333333333278,  0.2000000000000086486,  0.1428571428549010502,
      0.111111111339389688,   0.09090907881509188144, 0.07692345940270638333,
      0.06665886352701884132, 0.05893099692590041597, 0.05160769881147162028,
      0.05441915418234587182, 0.01229244872854053172, 0.1355790391369229839,
      -0.1445049118341446777, 0.2109809788597579688};
  static constexpr double kSineHyperbolic[] = {
      0.1666666666666666667,   0.008333333333333333333,  0.0001984126984126984133,
      2.755731922398582384e-6, 2.505210838547607134e-8,  1.605904382690051056e-10,
      7.64716541459348068e-13, 2.811290964677010631e-15, 8.309171941866942582e-18};
  static constexpr double kQuarterRest = 3.898171832519376e-17;
  static constexpr double kLarge = 0x1p27;
  static constexpr double kRootStart[] = {1.537760266, -0.8012745697, 0.3118472682, -0.04863305334};
  static constexpr double kRootStep[] = {1.0, 1.0 / 3, 2.0 / 9, 14.0 / 81};
  static constexpr int kTinyThirds = 18;
  static constexpr double kLog10Of2High = 0x1.34413509f7p-2,
                          kLog10Of2Low = 1.420502322726609942e-13;
};

template <class T>
inline constexpr T kQuarterTurn = static_cast<T>(1.57079632679489661923);
// log2(e) and log10(e), and what is left of them after 1 and 1/2, whose products are exact.
template <class T>
inline constexpr T kLog2E = static_cast<T>(1.44269504088896340736);
template <class T>
inline constexpr T kLog2ERest = static_cast<T>(0.44269504088896340736);
template <class T>
inline constexpr T kLog10E = static_cast<T>(0.43429448190325182765);
template <class T>
inline constexpr T kLog10ERest = static_cast<T>(-0.06570551809674817235);
template <class T>
inline constexpr T kRootOfHalf = static_cast<T>(0.79370052598409973738);
template <class T>
inline constexpr T kRootOfQuarter = static_cast<T>(0.62996052494743658238);

MX_MATH float magnitude(float x) { return __builtin_fabsf(x); }
MX_MATH double magnitude(double x) { return __builtin_fabs(x); }

// quarters * pi/2 + t + rest for |t| <= quarters * pi/2 or no quarters: the sum of the first two is
// rounded, and what that takes is added with the small rest.
template <class T>
MX_MATH T angle_sum(T quarters, T t, T rest) {
  const T base = quarters * kQuarterTurn<T>;
  const T high = base + t;
  return high + ((t - (high - base)) + (base * ElementaryConstants<T>::kQuarterRest + rest));
}

// From 1/2 on by the half of the complementary angle; NaN beyond 1.
template <std::floating_point T>
MX_MATH T asin(T x) {
  const T a = magnitude(x);
  const bool far = a > T(0.5);
  const T z = far ? T(0.5) - T(0.5) * a : a * a;
  const T t = far ? T(-2) * std::sqrt(z) : a;
  const T rest = t * (z * polynomial(ElementaryConstants<T>::kArcSine, z));
  return std::copysign(angle_sum(far ? T(1) : T(0), t, rest), x);
}
template <std::floating_point T>
MX_MATH T acos(T x) {
  const T a = magnitude(x);
  const bool far = a > T(0.5);
  const T z = far ? T(0.5) - T(0.5) * a : a * a;
  const T t = far ? std::copysign(T(2) * std::sqrt(z), x) : -x;
  const T rest = t * (z * polynomial(ElementaryConstants<T>::kArcSine, z));
  const T quarters = far ? (x < T(0) ? T(2) : T(0)) : T(1);
  // Where quarters are added, the sum is larger than t: what t + rest loses is below half of its
  // last place.
  const T low = quarters * (kQuarterTurn<T> * ElementaryConstants<T>::kQuarterRest);
  return quarters * kQuarterTurn<T> + (t + (rest + low));
}

template <std::floating_point T>
MX_MATH T atan(T x) {
  const T a = magnitude(x);
  const bool steep = a > T(1);
  const T t = steep ? T(-1) / a : a, z = t * t;
  const T rest = t * (z * polynomial(ElementaryConstants<T>::kArcTangent, z));
  return std::copysign(angle_sum(steep ? T(1) : T(0), t, rest), x);
}
// The angle of the point (x, y).
template <std::floating_point T>
MX_MATH T atan2(T y, T x) {
  const T a = magnitude(y), b = magnitude(x);
  const bool steep = a > b, left = std::copysign(T(1), x) < T(0);
  const T less = steep ? b : a, more = steep ? a : b;
  // 0 / 0 is 0 and infinity / infinity is 1 here.
  const T ratio = less == more ? (more == T(0) ? T(0) : T(1)) : less / more;
  const T t = steep != left ? -ratio : ratio, z = t * t;
  const T rest = t * (z * polynomial(ElementaryConstants<T>::kArcTangent, z));
  const T angle = angle_sum(steep ? T(1) : left ? T(2) : T(0), t, rest);
  return ((x != x) | (y != y)) ? x + y : std::copysign(angle, y);
}

// The root of a^2 + b^2: in double, whose range has room for the squares of floats, and by factors
// that make room for those of doubles. Infinite where one of the two is, whatever the other.
MX_MATH float hypot(float a, float b) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const double x = double{a}, y = double{b};
  const float root = static_cast<float>(std::sqrt(x * x + y * y));
  const bool a_infinite = magnitude(a) == kInf, b_infinite = magnitude(b) == kInf;
  return (a_infinite | b_infinite) ? kInf : root;
}
MX_MATH double hypot(double a, double b) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double x = magnitude(a), y = magnitude(b), most = x > y ? x : y;
  const bool large = most > 0x1p500, small = most < 0x1p-450;
  const double factor = large ? 0x1p-600 : small ? 0x1p600 : 1.0;
  const double back = large ? 0x1p600 : small ? 0x1p-600 : 1.0;
  const double u = x * factor, v = y * factor;
  const double root = std::sqrt(u * u + v * v) * back;
  return ((x == kInf) | (y == kInf)) ? kInf : root;
}

template <std::floating_point T>
MX_MATH T asinh(T x) {
  using C = ElementaryConstants<T>;
  const T a = magnitude(x), z = a * a;
  const T near = a + a * (z * polynomial(C::kAreaSine, z));
  const bool large = a > C::kLarge;
  const T root = std::sqrt(z + T(1)), sum_of_both = root + a;
  // Of large numbers 2a, and 2^-24 of it so that nothing overflows.
  const T u = large ? a * T(0x1p-24) : sum_of_both;
  const T more = large ? T(0) : a - (sum_of_both - root);
  const T far = sum(log_parts_of_sum<true>(u, more, large ? 25 : 0));
  const T y = a < T(1) ? near : far;
  return a < std::numeric_limits<T>::infinity() ? std::copysign(y, x) : x;
}
template <std::floating_point T>
MX_MATH T acosh(T x) {
  constexpr T kInf = std::numeric_limits<T>::infinity();
  const T t = x - T(1), root = std::sqrt(t * t + T(2) * t);
  // log1p(root + t), in three parts
  const T v = root + t, sum_of_all = T(1) + v;
  const bool large = x > ElementaryConstants<T>::kLarge;
  const T u = large ? x * T(0x1p-24) : sum_of_all;
  const T more = large ? T(0) : (v - (sum_of_all - T(1))) + (t - (v - root));
  const T y = sum(log_parts_of_sum<true>(u, more, large ? 25 : 0));
  const T special = x == kInf ? x : std::numeric_limits<T>::quiet_NaN();
  return ((x >= T(1)) & (x < kInf)) ? y : special;
}
// Half the logarithm of (1 + a) / (1 - a), the denominator times the power of two that brings the
// quotient near 1: atanh(s) = log((1 + s) / (1 - s)) / 2 for s = (n - d) / (n + d).
template <std::floating_point T>
MX_MATH T atanh(T x) {
  using C = MathConstants<T>;
  using Int = typename C::Int;
  using Bits = std::make_unsigned_t<Int>;
  const T a = magnitude(x), n = T(1) + a, d = T(1) - a;
  // d = 2^-k m with m between 0.75 * sqrt(2) and its double
  const auto bits = std::bit_cast<Bits>(d);
  const Int k = static_cast<Int>(std::bit_cast<Bits>(T(2.1213203)) - bits) >> C::kMantissa;
  const T m = std::bit_cast<T>(bits + (static_cast<Bits>(k) << C::kMantissa));
  const bool near = a < T(0.5);
  const T s = near ? a : ((n - m) + (a - (n - T(1)))) / (n + m);
  const T whole =
      near ? T(0) : T(0.5) * (std::bit_cast<T>(std::bit_cast<Int>(C::kRound) + k) - C::kRound);
  const T z = s * s;
  const T rest = s * (z * polynomial(ElementaryConstants<T>::kAreaTangent, z));
  const T y = whole * C::kLn2High + (s + (rest + whole * C::kLn2Low));
  const T special =
      a == T(1) ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::quiet_NaN();
  return std::copysign(a < T(1) ? y : special, x);
}

// Half of exp(a) for a >= 0 or NaN.
template <class T>
MX_MATH T half_exp(T a) {
  constexpr T kEnd = MathConstants<T>::kExpHigh + T(2);
  typename MathConstants<T>::Int n;
  const T p = reduced_expm1(a > kEnd ? kEnd : a, &n);
  // In two steps: 2^n may be too large for a number.
  const T scale = power_of_two<T>(n - 5);
  return (p * scale + scale) * T(16);
}
template <std::floating_point T>
MX_MATH T cosh(T x) {
  const T half = half_exp(magnitude(x));
  return half + T(0.25) / half;
}
template <std::floating_point T>
MX_MATH T sinh(T x) {
  const T a = magnitude(x), z = a * a, half = half_exp(a);
  const T near = a + a * (z * polynomial(ElementaryConstants<T>::kSineHyperbolic, z));
  return std::copysign(a < T(1) ? near : half - T(0.25) / half, x);
}

template <std::floating_point T>
MX_MATH T cbrt(T x) {
  using C = MathConstants<T>;
  using E = ElementaryConstants<T>;
  using Int = typename C::Int;
  const T a = magnitude(x);
  const bool tiny = a < std::numeric_limits<T>::min();
  const auto bits = std::bit_cast<Int>(tiny ? a * power_of_two<T>(3 * E::kTinyThirds) : a);
  const Int exponent = (bits >> C::kMantissa) - C::kBias;
  const T m = std::bit_cast<T>(bits - (exponent << C::kMantissa));  // in [1, 2)
  // exponent = 3 third + left, left one of 0, 1 and 2
  const T whole = std::bit_cast<T>(std::bit_cast<Int>(C::kRound) + exponent) - C::kRound;
  const T shifted = (whole - T(1)) * (T(1) / T(3)) + C::kRound;
  const Int third = std::bit_cast<Int>(shifted) - std::bit_cast<Int>(C::kRound);
  const T left = whole - T(3) * (shifted - C::kRound);
  const T start = polynomial(E::kRootStart, m);
  const T h = T(1) - m * start * start * start;
  const T unit = left == T(0) ? T(1) : left == T(1) ? kRootOfHalf<T> : kRootOfQuarter<T>;
  const T inverse = start * polynomial(E::kRootStep, h) * unit;  // 1 / cbrt(b)
  const T b = left == T(0) ? m : left == T(1) ? T(2) * m : T(4) * m;
  const T rough = b * (inverse * inverse), square = rough * rough;
  const T root = rough + (b - square * rough) * (inverse * inverse * (T(1) / T(3)));
  const T y = root * power_of_two<T>(third - (tiny ? Int{E::kTinyThirds} : Int{0}));
  const bool special = (x == T(0)) | !(a < std::numeric_limits<T>::infinity());
  return special ? x : std::copysign(y, x);
}

template <std::floating_point T>
MX_MATH T log2(T x) {
  const LogParts<T> p = log_parts(x);
  const T less = p.half - p.series;
  // The first sum has no error where the result is small.
  return log_or_special(x, (p.whole + p.f) + (p.f * kLog2ERest<T> - less * kLog2E<T>));
}
template <std::floating_point T>
MX_MATH T log10(T x) {
  using C = ElementaryConstants<T>;
  const LogParts<T> p = log_parts(x);
  const T less = p.half - p.series;
  const T small = (p.f * kLog10ERest<T> - less * kLog10E<T>)+p.whole * C::kLog10Of2Low;
  return log_or_special(x, p.whole * C::kLog10Of2High + (T(0.5) * p.f + small));
}

#undef MX_MATH

}  // namespace mxnet::row_math
