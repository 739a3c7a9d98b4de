// SPDX-License-Identifier: Apache-2.0
// Running sums of rows in double, four numbers in the lanes of a vector.
#pragma once
#include <cstdint>

namespace mxnet {

// Of `rows` rows of n numbers each; y may be x.
template <class T>
using RunningSums = void (*)(const T* x, T* y, int64_t rows, int64_t n);

// Null on processors without AVX2. T: float, double. With `reverse` each row is summed from its
// end.
template <class T>
RunningSums<T> running_sums(bool reverse);

}  // namespace mxnet
