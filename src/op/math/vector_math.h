// SPDX-License-Identifier: Apache-2.0
// exp, log, sin and their kin without branches, calls or tables, so that the loops of the rows
// vectorise; at most 2 ulp off, subnormal arguments and results included
// (tests/op/math/vector_math_test.cc). The coefficients come from tools/fit_math.py.
#pragma once
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace mxnet::row_math {

// Always inlined: a function of the same name that the linker could pick for several instruction
// sets must not exist.
#define MX_MATH [[gnu::always_inline]] inline

template <class T>
struct MathConstants;
template <>
struct MathConstants<float> {
  using Int = int32_t;
  static constexpr int kMantissa = 23, kBias = 127;
  // Adding it rounds to an integer, which then is in the low bits.
  static constexpr float kRound = 0x1.8p23f;
  static constexpr float kLn2High = 0x1.62e4p-1f, kLn2Low = 1.4286068203094172321e-6f;
  // Beyond these the result is 0 or infinity.
  static constexpr float kExpLow = -104.0f, kExpHigh = 89.0f;
  static constexpr float kTanhOne = 10.0f;  // tanh is 1 from here
  static constexpr float kExp[] = {0.5000000014f,   0.1666666668f,   0.04166645681f,
                                   0.008333310024f, 0.001393454193f, 0.0001989198131f};
  static constexpr float kLog[] = {0.6666666655f, 0.4000012184f, 0.2855082082f, 0.2333046722f};
  static constexpr float kTanh[] = {-0.3333333317f, 0.1333330356f,    -0.05395925958f,
                                    0.02176891865f, -0.008343945516f, 0.002292744816f};
  static constexpr float kErf[] = {0.1283791665f,   -0.3761263205f,  0.1128366947f,
                                   -0.02685795906f, 0.005197487227f, -0.0008102915561f,
                                   8.204169676e-5f};
  static constexpr float kErfc[] = {
      -0.0003829373336f, 1.130533349f,      0.6312126439f,   0.1107857175f,    -0.02692486528f,
      0.004991385526f,   -0.0006656846802f, 5.883021482e-5f, -2.980912116e-6f, 6.123972527e-8f};
  static constexpr float kNormal[] = {
      0.1285519295f,   -0.064172325f,     0.04773778316f,   -0.03879340558f,
      0.03206742816f,  -0.02604036884f,   0.02038357138f,   -0.01504235102f,
      0.01016775549f,  -0.006700172242f,  0.004718356385f,  -0.002593710551f,
      0.000643707784f, -0.0004001957678f, 0.0006551481797f, -0.0002740660155f};
  static constexpr float kNormalEnd = 5.5f;  // less than 2e-8 is beyond
};
template <>
struct MathConstants<double> {
  using Int = int64_t;
  static constexpr int kMantissa = 52, kBias = 1023;
  static constexpr double kRound = 0x1.8p52;
  static constexpr double kLn2High = 0x1.62e42fecp-1, kLn2Low = 4.2365213658092841052e-10;
  static constexpr double kExpLow = -746.0, kExpHigh = 710.0;
  static constexpr double kTanhOne = 22.0;
  static constexpr double kExp[] = {0.5,
                                    0.1666666666666667144,
                                    0.04166666666666667007,
                                    0.0083333333333255447,
                                    0.001388888888888332667,
                                    0.0001984126987686435493,
                                    0.00002480158732700718673,
                                    2.755725283351690975e-6,
                                    2.755727181021979957e-7,
                                    2.510627473357329469e-8,
                                    2.091544229778011522e-9};
  static constexpr double kLog[] = {
      0.6666666666666666646, 0.4000000000000087698, 0.2857142857080361181, 0.2222222239171391744,
      0.1818179564013290628, 0.1538623970281465819, 0.1326877313865688518, 0.1308662614784010214};
  static constexpr double kTanh[] = {
      -0.3333333333333333332,    0.1333333333333332076,      -0.05396825396823590134,
      0.02186948853513322201,    -0.008863235499801992569,   0.003592127507599252229,
      -0.001455828399830324586,  0.0005899818158388232071,   -0.000238889446367511739,
      0.00009604109157026265988, -0.00003708106921544233385, 0.00001220992179016278166,
      -2.438831631472087804e-6};
  static constexpr double kErf[] = {
      0.1283791670955125738,    -0.3761263890318374806,     0.1128379167095487867,
      -0.02686617064507679325,  0.005223977624818014467,    -0.0008548326980833789905,
      0.0001205533111164271092, -0.00001492559526683118157, 1.646100048412136803e-6,
      -1.635031270105469501e-7, 1.465977527404743581e-8,    -1.137284885679167367e-9,
      5.957176147748911404e-11};
  // log(erfc(a)) = -(kErfcStart + u * p(u / 2.525 - 1)), u = a - 0.95: what is small there, where
  // erfc is large, has all its digits, and the terms of p do not cancel each other.
  static constexpr double kErfcStart = 1.719759643891958716;
  static constexpr double kErfc[] = {
      4.836288874143627988,       2.381482914488201032,     0.05857060850690010516,
      -0.0246908226321226766,     0.01032568494946037374,   -0.004187450591399396558,
      0.001613563817749885489,    -0.000574716644650482944, 0.0001794451229842522434,
      -0.00004213431281219930906, 1.482762111347915789e-6,  6.586168532741091792e-6,
      -5.645438892305132772e-6,   3.360372103393191713e-6,  -1.671812620876908227e-6,
      7.238452451750176206e-7,    -2.595065569858311254e-7, 6.303208665667948476e-8,
      -6.928886309420574953e-9,   -1.279688605036081457e-9, 7.552363707108042372e-9,
      -9.690784734078204626e-9,   4.764771540486139047e-9,  -8.201138780646378822e-10};
};

// c[i] + c[i + 1] * x + ...: recursion, because a loop is not sure to be unrolled.
template <std::size_t i = 0, class T, std::size_t n>
MX_MATH T polynomial(const T (&c)[n], T x) {
  if constexpr (i + 1 == n)
    return c[i];
  else
    return polynomial<i + 1>(c, x) * x + c[i];
}

// The same in halves that do not wait for each other: for long polynomials, a loop's only work.
template <std::size_t first, std::size_t count, class T, std::size_t n>
MX_MATH T halved_polynomial(const T (&c)[n], T x, T* power) {
  if constexpr (count == 1) {
    *power = x;
    return c[first];
  } else {
    constexpr std::size_t kHalf = std::bit_ceil(count) / 2;
    T half, unused;
    const T low = halved_polynomial<first, kHalf>(c, x, &half);
    const T high = halved_polynomial<first + kHalf, count - kHalf>(c, x, &unused);
    *power = half * half;
    return high * half + low;
  }
}
template <class T, std::size_t n>
MX_MATH T halved_polynomial(const T (&c)[n], T x) {
  T unused;
  return halved_polynomial<0, n>(c, x, &unused);
}

// 2^n for n within the exponents of normal numbers.
template <class T>
MX_MATH T power_of_two(typename MathConstants<T>::Int n) {
  using C = MathConstants<T>;
  return std::bit_cast<T>((n + C::kBias) << C::kMantissa);
}

// x = n * ln(2) + r, |r| <= ln(2) / 2. Returns exp(r) - 1.
template <bool kHalved = false, class T>
MX_MATH T reduced_expm1(T x, typename MathConstants<T>::Int* n) {
  using C = MathConstants<T>;
  const T shifted = x * T(1.44269504088896340736) + C::kRound;
  *n = std::bit_cast<typename C::Int>(shifted) - std::bit_cast<typename C::Int>(C::kRound);
  const T whole = shifted - C::kRound;
  const T r = (x - whole * C::kLn2High) - whole * C::kLn2Low;
  return r + r * r * (kHalved ? halved_polynomial(C::kExp, r) : polynomial(C::kExp, r));
}

// NaN passes through: comparisons with it are false.
template <class T>
MX_MATH T clamped(T x, T low, T high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}

template <std::floating_point T>
MX_MATH T exp(T x) {
  using C = MathConstants<T>;
  typename C::Int n;
  const T p = T(1) + reduced_expm1(clamped(x, C::kExpLow, C::kExpHigh), &n);
  // In two steps: 2^n alone may be too large or too small for a normal number.
  const typename C::Int half = n >> 1;
  return p * power_of_two<T>(half) * power_of_two<T>(n - half);
}

// exp without clamping and with one multiplication by a power of two, for NaN and |x| <= 80 (700 of
// double). Up to kExpHigh - 1 the power is still a number, but that of the least ones is zero.
template <bool kHalved = false, std::floating_point T>
MX_MATH T exp_moderate(T x) {
  typename MathConstants<T>::Int n;
  const T p = T(1) + reduced_expm1<kHalved>(x, &n);
  return p * power_of_two<T>(n);
}

template <std::floating_point T>
MX_MATH T expm1(T x) {
  using C = MathConstants<T>;
  typename C::Int n;
  // Below the first limit the result is -1.
  const T p = reduced_expm1(clamped(x, T(-0.7) * (C::kMantissa + 4), C::kExpHigh), &n);
  const T half = power_of_two<T>(n - 1);
  const T y = (p * half + (half - T(0.5))) * T(2);
  return x == T(0) ? x : y;  // keeps -0
}

// A logarithm in parts that bases share: whole * ln(2) + f - (half - series).
template <class T>
struct LogParts {
  T whole, f, half, series;
};

// x = mantissa * 2^exponent, x normal and positive, with a mantissa between sqrt(1/2) and sqrt(2).
template <class T>
struct LogSplit {
  T mantissa;
  typename MathConstants<T>::Int exponent;
};
template <class T>
MX_MATH LogSplit<T> log_split(T x) {
  using C = MathConstants<T>;
  using Int = typename C::Int;
  // Counted from the bits of sqrt(1/2).
  // Unsigned, since the bits of a negative number (whose result is dropped) wrap around.
  using Bits = std::make_unsigned_t<Int>;
  const Bits base = std::bit_cast<Bits>(T(0.70710678118654752440));
  const Bits bits = std::bit_cast<Bits>(x);
  const Int exponent = static_cast<Int>(bits - base) >> C::kMantissa;
  return {std::bit_cast<T>(bits - (static_cast<Bits>(exponent) << C::kMantissa)), exponent};
}
// An integer below 2^11 as a number, without a conversion that few instruction sets have.
template <class T>
MX_MATH T as_number(typename MathConstants<T>::Int n) {
  using C = MathConstants<T>;
  return std::bit_cast<T>(std::bit_cast<typename C::Int>(C::kRound) + n) - C::kRound;
}

// Of x + more, x normal and positive, times 2^shift; `more` is below the last place of x.
template <bool kMore, class T>
MX_MATH LogParts<T> log_parts_of_sum(T x, T more, typename MathConstants<T>::Int shift) {
  const auto [mantissa, exponent] = log_split(x);
  T f = mantissa - T(1);
  if constexpr (kMore) f += more * power_of_two<T>(-exponent);
  const T s = f / (T(2) + f), z = s * s, half = T(0.5) * f * f;
  return {as_number<T>(exponent + shift), f, half,
          s * (half + z * polynomial(MathConstants<T>::kLog, z))};
}
// Of positive numbers; of others anything.
template <class T>
MX_MATH LogParts<T> log_parts(T x) {
  using C = MathConstants<T>;
  using Int = typename C::Int;
  const bool tiny = x < std::numeric_limits<T>::min();
  const T normal = tiny ? x * power_of_two<T>(C::kMantissa) : x;
  return log_parts_of_sum<false>(normal, T(0), tiny ? -Int{C::kMantissa} : Int{0});
}
template <class T>
MX_MATH T sum(const LogParts<T>& p) {
  using C = MathConstants<T>;
  return p.whole * C::kLn2High - ((p.half - (p.series + p.whole * C::kLn2Low)) - p.f);
}
// y where x has a finite logarithm.
template <class T>
MX_MATH T log_or_special(T x, T y) {
  constexpr T kInf = std::numeric_limits<T>::infinity();
  const T special = x == T(0) ? -kInf : x > T(0) ? x : std::numeric_limits<T>::quiet_NaN();
  return ((x > T(0)) & (x < kInf)) ? y : special;
}
template <std::floating_point T>
MX_MATH T log(T x) {
  return log_or_special(x, sum(log_parts(x)));
}

template <std::floating_point T>
MX_MATH T log1p(T x) {
  constexpr T kInf = std::numeric_limits<T>::infinity();
  const T u = T(1) + x;
  // What rounding took from u, divided by u: the first term of the correction.
  const T y = log(u) + (x - (u - T(1))) / u;
  const T special = x == T(-1) ? -kInf : x;
  return ((x == T(0)) | (x == T(-1)) | (x == kInf)) ? special : y;
}

// 1 / (1 + exp(-x)) with the digits of small results kept.
template <std::floating_point T>
MX_MATH T sigmoid(T x) {
  const T e = exp(-(x < T(0) ? -x : x));
  return (x < T(0) ? e : T(1)) / (T(1) + e);
}

template <std::floating_point T>
MX_MATH T tanh(T x) {
  using C = MathConstants<T>;
  const T a = x < T(0) ? -x : x;
  const T z = x * x;
  const T near = x + x * z * polynomial(C::kTanh, z < T(1) ? z : T(1));
  const T far = T(1) - T(2) / (exp_moderate(T(2) * (a > C::kTanhOne ? C::kTanhOne : a)) + T(1));
  const T y = a < T(0.625) ? near : x < T(0) ? -far : far;
  return x == T(0) ? x : y;  // keeps -0
}

// Near zero x times a polynomial; from there 1 - exp of one for log(erfc).
MX_MATH float erf(float x) {
  using C = MathConstants<float>;
  const float a = x < 0.0f ? -x : x;
  const float b = a > 4.0f ? 4.0f : a;  // erf is 1 from there; NaN stays
  const float z = x * x;
  const float near = x + x * polynomial(C::kErf, z < 1.0f ? z : 1.0f);
  const float far = 1.0f - exp_moderate(-polynomial(C::kErfc, b));
  const float y = b < 0.95f ? near : x < 0.0f ? -far : far;
  return x == 0.0f ? x : y;  // keeps -0
}
// 1 - erf for a from 0.95 to 6, of double.
MX_MATH double erfc_moderate(double a) {
  using C = MathConstants<double>;
  const double u = a - 0.95;
  return exp_moderate<true>(
      -(C::kErfcStart + u * halved_polynomial(C::kErfc, u * (1.0 / 2.525) - 1.0)));
}
MX_MATH double erf(double x) {
  using C = MathConstants<double>;
  const double a = x < 0.0 ? -x : x;
  const double b = a > 6.0 ? 6.0 : a;
  const double z = x * x;
  const double near = x + x * halved_polynomial(C::kErf, z < 1.0 ? z : 1.0);
  const double far = 1.0 - erfc_moderate(b);
  const double y = b < 1.0 ? near : x < 0.0 ? -far : far;
  return x == 0.0 ? x : y;
}

// pi/2 in pieces of 33 bits, whose products with integers below 2^20 are exact, and the rest.
inline constexpr double kQuarter1 = 0x1.921fb544p+0, kQuarter2 = 0x1.0b4611a6p-34,
                        kQuarter3 = 0x1.3198a2e037073p-69, kQuarterRest = 0x1.0b4611a626331p-34;
// Arguments up to here may be reduced with them; also free of NaN.
inline constexpr double kCircularReach = 0x1p19;

// Sine and cosine of what is left of an angle after `turns` quarters of a turn.
struct CirclePoint {
  double sine, cosine;
  int64_t turns;
};

MX_MATH double nearest_quarters(double x, int64_t* turns) {
  constexpr double kRound = MathConstants<double>::kRound;
  const double shifted = x * 0.63661977236758134308 + kRound;
  *turns = std::bit_cast<int64_t>(shifted);  // the low bits are those of the number
  return shifted - kRound;
}

// In double, with the terms that float needs.
MX_MATH CirclePoint circle_point(float x) {
  constexpr double kSin[] = {-0.1666666666, 0.008333331785, -0.0001984003887, 2.724378141e-6};
  constexpr double kCos[] = {0.04166666666, -0.00138888876, 2.480056043e-5, -2.729583083e-7};
  int64_t turns;
  const double n = nearest_quarters(static_cast<double>(x), &turns);
  const double r = (static_cast<double>(x) - n * kQuarter1) - n * kQuarterRest, z = r * r;
  return {r + r * z * polynomial(kSin, z), 1.0 - z * 0.5 + z * z * polynomial(kCos, z), turns};
}

// The rest of the angle is r + low: near multiples of pi/2 one number would not hold its digits.
MX_MATH CirclePoint circle_point(double x) {
  constexpr double kSin[] = {-0.1666666666666666667,    0.008333333333333331259,
                             -0.0001984126984126456589, 2.755731921895476226e-6,
                             -2.505210610025598923e-8,  1.605851087531919491e-10,
                             -7.58548648523593814e-13};
  constexpr double kCos[] = {0.04166666666666666667,    -0.001388888888888888774,
                             0.00002480158730158436897, -2.75573192211891042e-7,
                             2.087675571758440374e-9,   -1.147044935446677262e-11,
                             4.745198807202875811e-14};
  int64_t turns;
  const double n = nearest_quarters(x, &turns);
  const double rough = x - n * kQuarter1, second = n * kQuarter2;
  const double r = rough - second;
  // What rounding r has lost (Knuth's two-sum).
  const double kept = r - rough;
  const double low = ((rough - (r - kept)) - (second + kept)) - n * kQuarter3;
  const double z = r * r, half = 0.5 * z, whole = 1.0 - half;
  return {r + (r * z * polynomial(kSin, z) + low * whole),
          whole + (((1.0 - whole) - half) + (z * z * polynomial(kCos, z) - r * low)), turns};
}

// REQUIRES of the three: |x| <= kCircularReach.
template <std::floating_point T>
MX_MATH T near_sin(T x) {
  const CirclePoint p = circle_point(x);
  const double y = (p.turns & 1) != 0 ? p.cosine : p.sine;
  return x == T(0) ? x : static_cast<T>((p.turns & 2) != 0 ? -y : y);  // keeps -0
}
template <std::floating_point T>
MX_MATH T near_cos(T x) {
  const CirclePoint p = circle_point(x);
  const double y = (p.turns & 1) != 0 ? p.sine : p.cosine;
  return static_cast<T>(((p.turns + 1) & 2) != 0 ? -y : y);
}
template <std::floating_point T>
MX_MATH T near_tan(T x) {
  const CirclePoint p = circle_point(x);
  const bool odd = (p.turns & 1) != 0;
  const double y = (odd ? -p.cosine : p.sine) / (odd ? p.sine : p.cosine);
  return x == T(0) ? x : static_cast<T>(y);
}

// The part of the normal distribution below x, to 2e-7: half the work of (1 + erf) / 2, whose last
// digits are no better.
MX_MATH float normal_below(float x) {
  using C = MathConstants<float>;
  const float b = clamped(x, -C::kNormalEnd, C::kNormalEnd);
  const float t = b * b * (2.0f / (C::kNormalEnd * C::kNormalEnd)) - 1.0f;
  const float y = 0.5f + b * halved_polynomial(C::kNormal, t);
  return x < -C::kNormalEnd ? 0.0f : x > C::kNormalEnd ? 1.0f : y;
}
// With the digits of small results kept, down to 1e-17, and nothing below.
MX_MATH double normal_below(double x) {
  using C = MathConstants<double>;
  const double a = (x < 0.0 ? -x : x) * 0.70710678118654752440;
  const double b = a > 6.0 ? 6.0 : a, z = a * a;
  const double near = a + a * halved_polynomial(C::kErf, z < 1.0 ? z : 1.0);
  const double far = erfc_moderate(b);
  const double above = 0.5 * (a < 1.0 ? 1.0 - near : a < 6.0 ? far : 0.0);
  return x < 0.0 ? above : 1.0 - above;
}

#undef MX_MATH

}  // namespace mxnet::row_math
