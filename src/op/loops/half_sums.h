// SPDX-License-Identifier: Apache-2.0
// Sums of halves in registers of floats: of several arrays, and of products of two. Where the
// processor has no such conversions, op/loops/convert.h is all there is.
#pragma once
#include <cstdint>

#include "base/dtype.h"

namespace mxnet {

// y[i] = in[0][i] + in[1][i] + ..., in float and in this order; y may be one of them. Null where
// the processor has no conversions. T: float16 or bfloat16.
template <class T>
using HalfSumLoop = void (*)(const T* const* in, int count, T* y, int64_t n);
template <class T>
HalfSumLoop<T> half_sum_loop();

// The sum of a[i] b[i], of halves of `dtype`, by as many threads as pay: sums of 2048 products in
// float, and these in double. REQUIRES: multiplies_halves().
bool multiplies_halves();
double sum_of_products(DType dtype, const void* a, const void* b, int64_t n);

}  // namespace mxnet
