// SPDX-License-Identifier: Apache-2.0
// What factors of the processor's matrix unit are packed from, and whole products of them in all
// threads.
#pragma once
#include <cstdint>

#include "base/matrix_unit.h"
#include "op/kernel.h"
#include "op/products/packed_gemm.h"
#include "op/run/parallel.h"

namespace mxnet {

// A factor in place, by what its sums go along: rows of a left one, columns of a right one. Number
// i of line l is data[l * line + i * step]. Lines or steps are contiguous.
struct Lines {
  const float* data;
  int64_t line, step;
};

// Lines that are packed together.
inline constexpr int64_t kLinesOfTile = matrix_unit::kRows;

// c = left right or c += left right in all threads.
template <class Format>
void multiply_lines(MultipliedBy by, int64_t m, int64_t n, int64_t k, const int8_t* left,
                    const int8_t* right, float* c, int64_t ldc, bool add) {
  // About a thirty-second of a product and addition is the unit of the cost model.
  parallel_for(
      m, static_cast<double>(k * n) / 32,
      [&](int64_t first, int64_t last) {
        Format::multiply(by, last - first, n, k, left + Format::packed_bytes(first, k), right,
                         c + first * ldc, ldc, add, 0, n);
      },
      2 * kLinesOfTile);
}

// c = a b or c += a b with scratch from `context`, in a format that packs lines. Of both factors
// rows or columns are contiguous.
template <class Format>
void product_of_lines(MultipliedBy by, int64_t m, int64_t n, int64_t k,
                      const packed_gemm::View<float>& a, const packed_gemm::View<float>& b,
                      float* c, int64_t ldc, bool add, KernelContext& context) {
  if (m == 0 || n == 0) return;
  auto* left = context.workspace_of<int8_t>(Format::packed_bytes(m, k));
  auto* right = context.workspace_of<int8_t>(Format::packed_bytes(n, k));
  const auto cost = static_cast<double>(k);
  parallel_for(
      m, cost,
      [&](int64_t first, int64_t last) {
        Format::pack_left({a.data, a.row, a.column}, m, k, first, last, left);
      },
      kLinesOfTile);
  parallel_for(
      n, cost,
      [&](int64_t first, int64_t last) {
        Format::pack_right({b.data, b.column, b.row}, n, k, first, last, right);
      },
      kLinesOfTile);
  multiply_lines<Format>(by, m, n, k, left, right, c, ldc, add);
}

}  // namespace mxnet
