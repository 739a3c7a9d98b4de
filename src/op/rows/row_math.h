// SPDX-License-Identifier: Apache-2.0
// The functions that rows are written in, for numbers. The same names exist for Expr (expr.h), so
// that one row is a kernel and, when a second derivative is asked for, a graph. Free of branches
// where loops should vectorise.
#pragma once
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "base/log_gamma.h"
#include "op/math/elementary_math.h"
#include "op/math/gamma_functions.h"
#include "op/math/gamma_of_doubles.h"
#include "op/math/inverse_erf.h"
#include "op/math/vector_math.h"

namespace mxnet::row_math {

// Taken from std, for float and double:
using std::cos, std::sin, std::sqrt, std::tan;

template <class T>
using Unsigned = std::make_unsigned_t<std::conditional_t<std::integral<T>, T, int>>;

// Both are evaluated.
template <class T>
constexpr T select(bool condition, T yes, T no) {
  return condition ? yes : no;
}

// Integer arithmetic wraps around, as existing programs rely on, instead of being undefined.
template <class T>
constexpr T negate(T x) {
  if constexpr (std::integral<T>)
    return static_cast<T>(Unsigned<T>(0) - static_cast<Unsigned<T>>(x));
  else
    return -x;
}
template <class T>
constexpr T multiply(T a, T b) {
  if constexpr (std::integral<T>)
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else
    return a * b;
}
template <class T>
constexpr T plus(T a, T b) {
  if constexpr (std::integral<T>)
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}
template <class T>
constexpr T minus(T a, T b) {
  if constexpr (std::integral<T>)
    return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  else
    return a - b;
}
// Whether dividing by it needs thought: the processor would stop the program at zero and, for the
// smallest number, at -1.
template <std::integral T>
constexpr bool is_odd_divisor(T b) {
  return b == T(0) || (std::signed_integral<T> && b == static_cast<T>(-1));
}
// a / b, truncated, of integers for which is_odd_divisor(b) is false. Quotients of up to 32 bits
// come from vectors of floating-point numbers: next to an integer they differ from it by more than
// rounding does.
template <std::integral T>
constexpr T truncated_quotient(T a, T b) {
  using Number = std::conditional_t<sizeof(T) == 1, float, double>;
  if constexpr (sizeof(T) <= 4)
    return static_cast<T>(static_cast<Number>(a) / static_cast<Number>(b));
  else
    return static_cast<T>(a / b);
}
// Integers: by zero gives zero; the smallest by -1 wraps.
template <class T>
constexpr T quotient(T a, T b) {
  if constexpr (std::integral<T>) {
    const bool odd = is_odd_divisor(b);
    const T usual = truncated_quotient(a, odd ? T(1) : b);
    return odd ? (b == T(0) ? T(0) : negate(a)) : usual;
  } else {
    return a / b;
  }
}
// The remainder that has the sign of b; zero for a zero b.
template <class T>
T modulo(T a, T b) {
  if constexpr (std::integral<T>) {
    const T divisor = is_odd_divisor(b) ? T(1) : b;
    const T r = sizeof(T) <= 4 ? minus(a, multiply(truncated_quotient(a, divisor), divisor))
                               : static_cast<T>(a % divisor);
    const bool other_sign = (r != T(0)) & ((r < T(0)) != (b < T(0)));
    return other_sign ? plus(r, b) : r;
  } else {
    if (b == T(0)) return T(0);
    const T r = std::fmod(a, b);
    return r != T(0) && (r < T(0)) != (b < T(0)) ? r + b : r;
  }
}
template <class T>
T power(T a, T b) {
  if constexpr (std::floating_point<T>) {
    return std::pow(a, b);
  } else {
    if (b < T(0))
      return a == T(1) ? T(1) : a == static_cast<T>(-1) ? (b % 2 != 0 ? a : T(1)) : T(0);
    T result(1);
    for (T base = a; b > T(0); b = static_cast<T>(b / 2)) {
      if (b % 2 != 0) result = multiply(result, base);
      base = multiply(base, base);
    }
    return result;
  }
}
// NaN in either wins.
template <class T>
constexpr T larger(T a, T b) {
  if constexpr (std::floating_point<T>)
    return ((a >= b) | (a != a)) ? a : b;
  else
    return a >= b ? a : b;
}
template <class T>
constexpr T smaller(T a, T b) {
  if constexpr (std::floating_point<T>)
    return ((a <= b) | (a != a)) ? a : b;
  else
    return a <= b ? a : b;
}
template <class T>
[[gnu::always_inline]] inline T hypotenuse(T a, T b) {
  if constexpr (std::floating_point<T>)
    return hypot(a, b);
  else
    return static_cast<T>(std::hypot(static_cast<double>(a), static_cast<double>(b)));
}
// The whole part of an angle: that of (|a|, b), from 0 to pi, is beyond k where the sine of what is
// left of it is positive. In doubt rounding could decide.
struct WholeAngle {
  int whole;
  bool doubt;
};
[[gnu::always_inline]] inline WholeAngle whole_angle(double a, double b) {
  const double y = std::fabs(a);
  const double beyond1 = y * 0.54030230586813972 - b * 0.84147098480789651;
  const double beyond2 = y * -0.41614683654714239 - b * 0.90929742682568170;
  const double beyond3 = y * -0.98999249660044545 - b * 0.14112000805986722;
  const double near = 1e-14 * (y + std::fabs(b));
  const bool doubt =
      (std::fabs(beyond1) < near) | (std::fabs(beyond2) < near) | (std::fabs(beyond3) < near);
  const int whole = int{beyond1 > 0} + int{beyond2 > 0} + int{beyond3 > 0};
  return {a < 0 ? -whole : whole, doubt};
}
// Then that of the C library is asked. (A call: it would be long code in every loop of integers.)
[[gnu::noinline]] inline int whole_arc_tangent(double a, double b) {
  const WholeAngle angle = whole_angle(a, b);
  return angle.doubt ? static_cast<int>(std::atan2(a, b)) : angle.whole;
}
template <class T>
[[gnu::always_inline]] inline T arc_tangent(T a, T b) {
  if constexpr (std::floating_point<T>)
    return atan2(a, b);
  else
    return static_cast<T>(whole_arc_tangent(static_cast<double>(a), static_cast<double>(b)));
}
template <class T>
constexpr T with_sign(T a, T b) {
  if constexpr (std::floating_point<T>)
    return std::copysign(a, b);
  else
    return (a < T(0)) == (b < T(0)) ? a : negate(a);
}
// A whole exponent is that of the power's bits: of those too small for them nothing is left of any
// integer, those too large are infinity's.
[[gnu::always_inline]] inline int64_t whole_scale(double a, int64_t exponent) {
  exponent = exponent < -1023 ? -1023 : exponent;
  exponent = exponent > 1024 ? 1024 : exponent;
  return static_cast<int64_t>(a * std::bit_cast<double>((exponent + 1023) << 52));
}
// (A call, as above.)
[[gnu::noinline]] inline int64_t whole_times_power(double a, int64_t exponent) {
  return whole_scale(a, exponent);
}
// The exponent may be fractional.
template <class T>
T scale_by_power(T a, T b) {
  if constexpr (std::floating_point<T>)
    return a * std::exp2(b);
  else
    return static_cast<T>(whole_times_power(static_cast<double>(a), b));
}
// Sizes are unsigned: that of the smallest number is none of its type, and dividing it by -1 traps.
template <class T>
T common_multiple(T a, T b) {
  using Size = Unsigned<T>;
  const auto size_a = static_cast<Size>(a < T(0) ? negate(a) : a);
  const auto size_b = static_cast<Size>(b < T(0) ? negate(b) : b);
  Size x = size_a, y = size_b;
  while (y != 0) {
    const auto rest = static_cast<Size>(x % y);
    x = y;
    y = rest;
  }
  return x == 0 ? T(0) : multiply(static_cast<T>(size_a / x), static_cast<T>(size_b));
}
template <class T>
constexpr T absolute(T x) {
  if constexpr (std::floating_point<T>)
    return std::fabs(x);
  else
    return x < T(0) ? negate(x) : x;
}
// Zero for NaN.
template <class T>
constexpr T sign(T x) {
  return static_cast<T>((T(0) < x) - (x < T(0)));
}

// Rounding leaves integers as they are.
template <class T>
T round_down(T x) {
  if constexpr (std::floating_point<T>)
    return std::floor(x);
  else
    return x;
}
template <class T>
T round_up(T x) {
  if constexpr (std::floating_point<T>)
    return std::ceil(x);
  else
    return x;
}
template <class T>
T toward_zero(T x) {
  if constexpr (std::floating_point<T>)
    return std::trunc(x);
  else
    return x;
}
template <class T>
T round_away(T x) {
  if constexpr (std::floating_point<T>)
    return std::round(x);
  else
    return x;
}
// rint(.5) = 0, rint(1.5) = 1, rint(-.5) = -1, as existing models have it.
template <class T>
T round_ties_down(T x) {
  if constexpr (std::floating_point<T>) {
    const T low = std::floor(x), high = std::ceil(x);
    return x - low <= high - x ? low : high;
  } else {
    return x;
  }
}

inline float digamma(float x) { return static_cast<float>(digamma(static_cast<double>(x))); }
inline double gamma(double x) { return std::tgamma(x); }
// Numbers by themselves; loops have op/rows/gamma_loops.inc.
inline double lgamma(double x) { return log_gamma(x); }

}  // namespace mxnet::row_math
