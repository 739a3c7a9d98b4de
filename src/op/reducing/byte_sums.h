// SPDX-License-Identifier: Apache-2.0
// Sums of bytes, as of masks and pictures, without widening each of them.
#pragma once
#include <cstdint>

namespace mxnet {

// What a byte counts: itself, itself as a signed number, or 1 where any but 0 is true.
enum class ByteKind : uint8_t { kUnsigned, kSigned, kTruth };

int64_t sum_of_bytes(const uint8_t* x, int64_t n, ByteKind kind = ByteKind::kUnsigned);

// Rows of fewer bytes are added one by one.
inline constexpr int64_t kLeastByteRow = 16;

// values[i]: of x[i * n, (i + 1) * n), for all i < rows.
void sums_of_rows_of_bytes(const uint8_t* x, int64_t rows, int64_t n, ByteKind kind,
                           int64_t* values);

// acc[j] += x[r * stride + j] for all r < rows, j < width. REQUIRES: width <= kMostByteColumns.
inline constexpr int64_t kMostByteColumns = 1024;
// Narrow columns of fewer bytes do not become wide ones; with a sign they are faster as int32.
inline constexpr int64_t kFewBytes = 512;
void add_rows_of_bytes(const uint8_t* x, int64_t rows, int64_t stride, ByteKind kind, int64_t* acc,
                       int64_t width);

}  // namespace mxnet
