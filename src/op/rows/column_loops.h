// SPDX-License-Identifier: Apache-2.0
// A matrix and a column, each of whose numbers meets a row of some numbers: where a row is a few
// vectors, a call for each takes as long as its work, and to lay the column out as rows longer.
#pragma once
#include <cstdint>

#include "op/rows/binary_loops.h"

namespace mxnet {

// The longest rows for which it gains: of bytes and half types their loops are short, too, and
// results that leave the second-level cache are waited for.
template <class T>
constexpr int64_t longest_column_row(int64_t result_bytes) {
  constexpr int64_t kFar = int64_t{2} << 20;
  return sizeof(T) <= 2 || result_bytes >= kFar ? 2048 : 512;
}

// `rows` rows of n numbers, `row` apart in the matrix and in order in y; numbers of the column are
// `step` apart. y may be the matrix. Of no type: integers of either sign have the same sums.
using ColumnLoop = void (*)(const void* matrix, int64_t row, const void* column, int64_t step,
                            void* y, int64_t rows, int64_t n);

// Null where there is none for the function or the processor, or for rows so short. `left`: the
// column is the left argument.
template <class T>
ColumnLoop column_loop(BinaryRow row, bool left, int64_t n);

}  // namespace mxnet
