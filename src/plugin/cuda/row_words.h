// SPDX-License-Identifier: Apache-2.0
// The words that rows (src/op/elemwise/*_rows.h) are written in, for kernels. One text for three
// compilers: nvcc, NVRTC (which gets it as source, so it includes nothing), and g++, which runs the
// kernels in the host's memory for tests. The CPU's words are op/rows/row_math.h.
#pragma once

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define MX_DEVICE __host__ __device__ __forceinline__
#else
#define MX_DEVICE inline
#endif

namespace mxnet {
namespace row_words {

template <class T>
struct Kind {  // integers
  static constexpr bool kReal = false, kSigned = T(-1) < T(0);
};
template <>
struct Kind<float> {
  static constexpr bool kReal = true, kSigned = true;
};
template <>
struct Kind<double> {
  static constexpr bool kReal = true, kSigned = true;
};

// A real number as an integer, truncated, as op/loops/convert.h has it: what does not fit is the
// least integer of 32 bits, or of 64, and types of fewer take its low bits. That is what
// conversions on x86 do; a GPU's own give the nearest integer, and 0 for NaN.
template <class T, class Real>
MX_DEVICE T truncated(Real x) {
  if constexpr (sizeof(T) == 8)
    return x >= Real(-0x1p63) && x < Real(0x1p63) ? static_cast<T>(x) : static_cast<T>(1ull << 63);
  else
    return static_cast<T>(x >= Real(-0x1p31) && x < Real(0x1p31) ? static_cast<int>(x)
                                                                 : static_cast<int>(1u << 31));
}

// Functions of the C library: float and double each have their own.
// clang-format off
#define MX_WORDS(WORD) \
  WORD(acos) WORD(acosh) WORD(asin) WORD(asinh) WORD(atan) WORD(atanh) WORD(cbrt) WORD(cos) WORD(cosh) \
  WORD(erf) WORD(exp) WORD(expm1) WORD(log) WORD(log10) WORD(log1p) WORD(log2) WORD(sin) WORD(sinh) \
  WORD(sqrt) WORD(tan) WORD(tanh) WORD(lgamma)
// clang-format on
#define MX_WORD(name)                                    \
  MX_DEVICE float name(float x) { return ::name##f(x); } \
  MX_DEVICE double name(double x) { return ::name(x); }
MX_WORDS(MX_WORD)
#undef MX_WORD
MX_DEVICE float gamma(float x) { return ::tgammaf(x); }
MX_DEVICE double gamma(double x) { return ::tgamma(x); }
MX_DEVICE float erfinv(float x) { return ::erfinvf(x); }
MX_DEVICE double erfinv(double x) { return ::erfinv(x); }

template <class T>
MX_DEVICE T sigmoid(T x) {
  const T e = exp(x < T(0) ? x : -x);  // never overflows
  return (x < T(0) ? e : T(1)) / (T(1) + e);
}

// Both are evaluated.
template <class T>
MX_DEVICE T select(bool condition, T yes, T no) {
  return condition ? yes : no;
}

// Integer arithmetic wraps around.
template <class T>
MX_DEVICE T negate(T x) {
  if constexpr (Kind<T>::kReal)
    return -x;
  else
    return static_cast<T>(0ull - static_cast<unsigned long long>(x));
}
#define MX_WRAPPING(name, op)                                           \
  template <class T>                                                    \
  MX_DEVICE T name(T a, T b) {                                          \
    if constexpr (Kind<T>::kReal)                                       \
      return a op b;                                                    \
    else                                                                \
      return static_cast<T>(static_cast<unsigned long long>(a)          \
                                op static_cast<unsigned long long>(b)); \
  }
MX_WRAPPING(plus, +)
MX_WRAPPING(minus, -)
MX_WRAPPING(multiply, *)
#undef MX_WRAPPING

// Integers: by zero gives zero; the smallest by -1 wraps.
template <class T>
MX_DEVICE T quotient(T a, T b) {
  if constexpr (Kind<T>::kReal) {
    return a / b;
  } else {
    if (b == T(0)) return T(0);
    if (Kind<T>::kSigned && b == static_cast<T>(-1)) return negate(a);
    return static_cast<T>(a / b);
  }
}
MX_DEVICE float remainder_of(float a, float b) { return ::fmodf(a, b); }
MX_DEVICE double remainder_of(double a, double b) { return ::fmod(a, b); }
// The remainder that has the sign of b; zero for a zero b.
template <class T>
MX_DEVICE T modulo(T a, T b) {
  if (b == T(0)) return T(0);
  if constexpr (Kind<T>::kReal) {
    const T r = remainder_of(a, b);
    return r != T(0) && (r < T(0)) != (b < T(0)) ? r + b : r;
  } else {
    if (Kind<T>::kSigned && b == static_cast<T>(-1)) return T(0);
    const T r = static_cast<T>(a % b);
    return r != T(0) && (r < T(0)) != (b < T(0)) ? static_cast<T>(r + b) : r;
  }
}
MX_DEVICE float power(float a, float b) { return ::powf(a, b); }
MX_DEVICE double power(double a, double b) { return ::pow(a, b); }
template <class T>
MX_DEVICE T power(T a, T b) {
  if (b < T(0)) return a == T(1) ? T(1) : a == static_cast<T>(-1) ? (b % 2 != 0 ? a : T(1)) : T(0);
  T result(1);
  for (T base = a; b > T(0); b = static_cast<T>(b / 2)) {
    if (b % 2 != 0) result = multiply(result, base);
    base = multiply(base, base);
  }
  return result;
}
// NaN in either wins.
template <class T>
MX_DEVICE T larger(T a, T b) {
  return ((a >= b) | (a != a)) ? a : b;
}
template <class T>
MX_DEVICE T smaller(T a, T b) {
  return ((a <= b) | (a != a)) ? a : b;
}

// Computed in floating point whatever the type is.
#define MX_THROUGH_DOUBLE(name, function)                                            \
  MX_DEVICE float name(float a, float b) { return ::function##f(a, b); }             \
  MX_DEVICE double name(double a, double b) { return ::function(a, b); }             \
  template <class T>                                                                 \
  MX_DEVICE T name(T a, T b) {                                                       \
    return truncated<T>(::function(static_cast<double>(a), static_cast<double>(b))); \
  }
MX_THROUGH_DOUBLE(hypotenuse, hypot)
MX_THROUGH_DOUBLE(arc_tangent, atan2)
#undef MX_THROUGH_DOUBLE

MX_DEVICE float with_sign(float a, float b) { return ::copysignf(a, b); }
MX_DEVICE double with_sign(double a, double b) { return ::copysign(a, b); }
template <class T>
MX_DEVICE T with_sign(T a, T b) {
  return (a < T(0)) == (b < T(0)) ? a : negate(a);
}
MX_DEVICE float scale_by_power(float a, float b) { return a * ::exp2f(b); }
MX_DEVICE double scale_by_power(double a, double b) { return a * ::exp2(b); }
template <class T>
MX_DEVICE T scale_by_power(T a, T b) {
  return static_cast<T>(
      truncated<long long>(static_cast<double>(a) * ::exp2(static_cast<double>(b))));
}
template <class T>
MX_DEVICE T absolute(T x) {
  if constexpr (Kind<T>::kReal)
    return with_sign(x, T(0));
  else
    return x < T(0) ? negate(x) : x;
}
template <class T>
MX_DEVICE T common_multiple(T a, T b) {
  const T size_a = absolute(a), size_b = absolute(b);
  T x = size_a, y = size_b;
  while (y != T(0)) {
    const T rest = modulo(x, y);
    x = y;
    y = rest;
  }
  return multiply(quotient(size_a, absolute(x)), size_b);  // x is negative of the smallest number
}
// Zero for NaN.
template <class T>
MX_DEVICE T sign(T x) {
  return static_cast<T>((T(0) < x) - (x < T(0)));
}

// Rounding leaves integers as they are.
#define MX_ROUNDING(name, function)                          \
  MX_DEVICE float name(float x) { return ::function##f(x); } \
  MX_DEVICE double name(double x) { return ::function(x); }  \
  template <class T>                                         \
  MX_DEVICE T name(T x) {                                    \
    return x;                                                \
  }
MX_ROUNDING(round_down, floor)
MX_ROUNDING(round_up, ceil)
MX_ROUNDING(toward_zero, trunc)
MX_ROUNDING(round_away, round)
#undef MX_ROUNDING
// rint(.5) = 0, rint(1.5) = 1, rint(-.5) = -1.
template <class T>
MX_DEVICE T round_ties_down(T x) {
  if constexpr (Kind<T>::kReal) {
    const T low = round_down(x), high = round_up(x);
    return x - low <= high - x ? low : high;
  } else {
    return x;
  }
}

// Recurrence up to 10, then the asymptotic series; reflection for negative arguments.
MX_DEVICE double digamma(double x) {
  constexpr double kPi = 3.14159265358979323846;
  if (x == 0.0) return -1.0 / x;
  double result = 0.0;
  if (x < 0.0) {
    // From the nearest integer, which is exact, as op/math/digamma.h has it.
    const double part = x - ::rint(x);
    if (part == 0.0) return ::sqrt(-1.0);  // NaN at poles
    result = -kPi / ::tan(kPi * part);
    x = 1.0 - x;
  }
  for (; x < 10.0; x += 1.0) result -= 1.0 / x;
  const double z = 1.0 / (x * x);
  const double series =
      z * (1.0 / 12 - z * (1.0 / 120 -
                           z * (1.0 / 252 -
                                z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12))))));
  return result + ::log(x) - 0.5 / x - series;
}
MX_DEVICE float digamma(float x) { return static_cast<float>(digamma(static_cast<double>(x))); }

}  // namespace row_words
}  // namespace mxnet
