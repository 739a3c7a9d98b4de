// SPDX-License-Identifier: Apache-2.0
// Compiles the sums of products of integers for each instruction set.
#include "op/products/integer_products.h"

#include <vector>

#include "base/simd.h"
#include "op/moving/strided_kernels.h"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/products/integer_products.inc"
#include "base/simd_targets.h"

// `count` numbers at steps as neighbours: where they are, or in a copy.
template <class T>
const T* gathered(const T* from, int64_t step, int64_t count, std::vector<T>* copy) {
  if (step == 1 || count == 0) return from;
  copy->resize(static_cast<std::size_t>(count));
  for (int64_t i = 0; i < count; ++i) (*copy)[static_cast<std::size_t>(i)] = from[i * step];
  return copy->data();
}

// `columns` of k numbers each, `step` apart, become rows.
template <class T>
std::vector<T> turned(const T* from, int64_t step, int64_t columns, int64_t k) {
  constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
  std::vector<T> rows(static_cast<std::size_t>(columns * k));
  tile_kernel(kBytes)(reinterpret_cast<const char*>(from), reinterpret_cast<char*>(rows.data()),
                      {k, kBytes, columns * kBytes}, {columns, step * kBytes, kBytes}, kBytes,
                      false);
  return rows;
}

}  // namespace

template <class T>
IntegerProducts<T> integer_products() {
  return MX_SIMD_CALL(loops<T>)();
}

uint8_t dot_bytes(const uint8_t* a, const uint8_t* b, int64_t n) {
  return MX_SIMD_CALL(dot_bytes)(a, b, n);
}

// Columns that lie as rows do are turned, for a few rows met as they are. A vector meets the
// columns of a matrix as one row.
template <class T>
void multiply_integers(const Products<T>& p, int64_t rows, int64_t columns, const T* a, const T* b,
                       T* c) {
  constexpr int64_t kFewRows = 8;
  const IntegerProducts<T> loops = integer_products<T>();
  const auto multiply = [&](const T* right, int64_t row) {
    loops.multiply({rows, columns, p.k, a, p.transpose_a ? 1 : p.lda, p.transpose_a ? p.lda : 1,
                    right, row, c, p.ldc, p.alpha, p.beta});
  };
  if (!p.transpose_b && columns > 1) return multiply(b, p.ldb);
  if (p.transpose_b && columns > 1 && rows >= kFewRows)
    return multiply(turned(b, p.ldb, columns, p.k).data(), columns);
  if (columns == 1 && rows > 1 && p.transpose_a && p.ldc == 1)
    return loops.multiply(
        {1, rows, p.k, b, 0, p.transpose_b ? 1 : p.ldb, a, p.lda, c, rows, p.alpha, p.beta});
  std::vector<T> copied_row, copied_column;
  if (!p.transpose_b) b = gathered(b, p.ldb, p.k, &copied_column);
  for (int64_t r = 0; r < rows; ++r) {
    const T* x = p.transpose_a ? gathered(a + r, p.lda, p.k, &copied_row) : a + r * p.lda;
    T* y = c + r * p.ldc;
    for (int64_t j = 0; j < columns; ++j) {
      const T product = p.alpha * loops.dot(x, b + j * p.ldb, p.k);
      y[j] = p.beta == 0 ? product : product + p.beta * y[j];
    }
  }
}

#define MX_INSTANTIATE(T)                         \
  template IntegerProducts<T> integer_products(); \
  template void multiply_integers(const Products<T>&, int64_t, int64_t, const T*, const T*, T*);
MX_INSTANTIATE(uint32_t)
MX_INSTANTIATE(uint64_t)
#undef MX_INSTANTIATE

}  // namespace mxnet
