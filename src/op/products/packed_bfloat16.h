// SPDX-License-Identifier: Apache-2.0
// Matrix products of bfloat16 with sums in float, where the processor has instructions for them:
// twice the rate of float's. The right factor is packed as one of half as many rows of float is
// (op/products/packed_gemm.h), each of which is a pair of rows.
#pragma once
#include <cstdint>

#include "base/half.h"
#include "op/products/packed_gemm.h"

namespace mxnet::packed_bfloat16 {

// Whether this processor multiplies pairs; multiply() must not be called where it does not.
bool available();

// A factor in place whose columns are contiguous, `column` elements apart: what packed_gemm::pack()
// takes for `k / 2` rows. `column` is even.
inline packed_gemm::View<float> pairs(const bfloat16* data, int64_t column) {
  return {reinterpret_cast<const float*>(data), 1, column / 2};
}

// Columns [first, last) of c (m rows, `ldc` apart, n columns) become a times packed, or have it
// added; k is even. Rows of a are contiguous, `a_row` apart. Bounds as those of packed_gemm.
void multiply(int64_t m, int64_t n, int64_t k, const bfloat16* a, int64_t a_row,
              const float* packed, float* c, int64_t ldc, bool add, int64_t first, int64_t last);

// c = a b or c += a b of factors that are rounded, in all threads, with scratch from `context`.
// Rows of b are contiguous; of a rows or columns are, rows with an even k.
void product(int64_t m, int64_t n, int64_t k, const packed_gemm::View<float>& a,
             const packed_gemm::View<float>& b, float* c, int64_t ldc, bool add,
             KernelContext& context);

}  // namespace mxnet::packed_bfloat16
