// SPDX-License-Identifier: Apache-2.0
// Sums of bytes, as of masks and pictures, without widening each of them.
#pragma once
#include <cstdint>

namespace mxnet {

int64_t sum_of_bytes(const uint8_t* x, int64_t n);

// acc[j] += x[r * stride + j] for all r < rows, j < width. REQUIRES: width <= kMostByteColumns.
inline constexpr int64_t kMostByteColumns = 1024;
void add_rows_of_bytes(const uint8_t* x, int64_t rows, int64_t stride, int64_t* acc, int64_t width);

}  // namespace mxnet
