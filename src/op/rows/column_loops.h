// SPDX-License-Identifier: Apache-2.0
// A matrix and a column, each of whose numbers meets a row of some numbers: where a row is a few
// vectors, a call for each takes as long as its work, and to lay the column out as rows longer.
#pragma once
#include <cstdint>

#include "op/rows/binary_loops.h"

namespace mxnet {

// The longest rows for which it gains.
inline constexpr int64_t kLongestColumnRow = 512;

// `rows` rows of n numbers, `row` apart in the matrix and in order in y; numbers of the column are
// `step` apart. y may be the matrix.
template <class T>
using ColumnLoop = void (*)(const T* matrix, int64_t row, const T* column, int64_t step, T* y,
                            int64_t rows, int64_t n);

// Null where there is none for the function or the processor, or for rows so short. `left`: the
// column is the left argument.
template <class T>
ColumnLoop<T> column_loop(BinaryRow row, bool left, int64_t n);

}  // namespace mxnet
