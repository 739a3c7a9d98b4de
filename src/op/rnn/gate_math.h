// SPDX-License-Identifier: Apache-2.0
// The functions of gates: those of op/math/vector_math.h in two thirds of their time, at most 3 ulp
// off (tests/op/rnn/gate_math_test.cc). What is multiplied by other numbers needs neither their
// last digit nor subnormal results.
#pragma once
#include <bit>
#include <concepts>
#include <type_traits>

#include "op/math/vector_math.h"

namespace mxnet::rnn {

// 1 / (1 + exp(-x)); where that is below all normal numbers, a number about as small as they are.
template <std::floating_point T>
[[gnu::always_inline]] inline T gate_sigmoid(T x) {
  constexpr T kMost = row_math::MathConstants<T>::kExpHigh - 1;
  return T(1) / (T(1) + row_math::exp_moderate(row_math::clamped(-x, -kMost, kMost)));
}

// e / (e + 2) for e = exp(2 |x|) - 1, which has its digits near zero, too; with the sign of x.
template <std::floating_point T>
[[gnu::always_inline]] inline T gate_tanh(T x) {
  using C = row_math::MathConstants<T>;
  using Bits = std::make_unsigned_t<typename C::Int>;
  const T a = x < T(0) ? -x : x;
  typename C::Int n;
  const T p = row_math::reduced_expm1(T(2) * (a > C::kTanhOne ? C::kTanhOne : a), &n);
  const T scale = row_math::power_of_two<T>(n);
  const T e = p * scale + (scale - T(1));
  constexpr Bits kSign = std::bit_cast<Bits>(T(-0.0));
  return std::bit_cast<T>(std::bit_cast<Bits>(e / (e + T(2))) | (std::bit_cast<Bits>(x) & kSign));
}

}  // namespace mxnet::rnn
