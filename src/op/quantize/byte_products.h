// SPDX-License-Identifier: Apache-2.0
// Products of matrices of bytes with exact int32 sums. Bytes are widened to int16 once, rows padded
// with zeros to whole vectors, so that the inner loop is the processor's multiply-and-add of pairs.
#pragma once
#include <cstdint>

namespace mxnet::quantize {

// Elements of a widened row are a multiple of this: two vectors of the widest set.
constexpr int64_t kRowMultiple = 32;
inline int64_t padded_row(int64_t k) {
  return (k + kRowMultiple - 1) / kRowMultiple * kRowMultiple;
}

// Widens rows [0, rows) of k bytes each; `to` has padded_row(k) elements a row.
template <class T>
void widen_rows(const T* from, int64_t rows, int64_t k, int16_t* to) {
  const int64_t padded = padded_row(k);
  for (int64_t r = 0; r < rows; ++r) {
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): the bytes are numbers
    for (int64_t i = 0; i < k; ++i) to[r * padded + i] = from[r * k + i];
    for (int64_t i = k; i < padded; ++i) to[r * padded + i] = 0;
  }
}

// c[i * ldc + j] = sum over k of a[i][k] b[j][k], for m rows of a and n rows of b, both widened.
// Sums wrap around as int32 does. Runs on the calling thread.
void byte_products(int64_t m, int64_t n, int64_t k, const int16_t* a, const int16_t* b, int32_t* c,
                   int64_t ldc);

}  // namespace mxnet::quantize
