// SPDX-License-Identifier: Apache-2.0
// The inner loops between bytes and numbers, compiled for each instruction set.
#pragma once
#include <cstdint>

namespace mxnet::quantize {

// to[i] = nearest<To>(in[i] * factor + shift). From: float or int32_t; To: int8_t or uint8_t.
template <class From, class To>
using ScaleLoop = void (*)(const From* in, To* to, int64_t n, float factor, float shift);
template <class From, class To>
ScaleLoop<From, To> scale_loop();

// to[i] = in[i] * factor, of either type of bytes.
void widen_bytes(const int8_t* in, bool is_signed, float* to, int64_t n, float factor);

// What a byte of each of two arrays is worth in steps of their sum.
struct SumFactors {
  float lhs, rhs;
};
// to[i] = the integer next to a[i] * lhs + b[i] * rhs, both rounded before they are added. T: as
// above, or int32_t. The arrays are of either type of bytes.
template <class T>
void sum_bytes(const int8_t* a, bool a_signed, const int8_t* b, bool b_signed, T* to, int64_t n,
               const SumFactors& factors);

}  // namespace mxnet::quantize
