// SPDX-License-Identifier: Apache-2.0
// Products of matrices of integers, which no library has: exact sums that wrap around as on the
// CPU. A warp, or a block, for each number of the result; all types share a kernel.
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/lines.cuh"
#include "plugin/cuda/product_steps.h"

namespace mxnet {
namespace cuda {
namespace {

struct Product {
  Integers a, b;
  Stored c;
  Divider columns, rows;
  int64_t depth;
  int64_t a_row, a_step, step_a;  // from row to row, along the sum, from matrix to matrix
  int64_t b_column, b_step, step_b;
  int64_t c_row, step_c;
  int64_t alpha;

  struct Place {
    int64_t matrix, row, column;
  };
  MX_DEVICE Place place(int64_t i) const {
    const int64_t line = columns.quotient(i), matrix = rows.quotient(line);
    return {matrix, line - matrix * rows.by(), i - line * columns.by()};
  }
  MX_DEVICE int64_t part(int64_t i, int lane, int lanes) const {
    const Place at = place(i);
    const int64_t left = at.matrix * step_a + at.row * a_row;
    const int64_t right = at.matrix * step_b + at.column * b_column;
    int64_t sum = 0;
    for (int64_t k = lane; k < depth; k += lanes)
      sum = row_words::plus(sum, row_words::multiply(a(left + k * a_step), b(right + k * b_step)));
    return sum;
  }
  MX_DEVICE int64_t merge(int64_t x, int64_t y) const { return row_words::plus(x, y); }
  MX_DEVICE void finish(int64_t i, int64_t sum) const {
    const Place at = place(i);
    c(at.matrix * step_c + at.row * c_row + at.column, row_words::multiply(sum, alpha));
  }
};

}  // namespace

void multiply_integers(NativeStream* stream, const GemmCall& call) {
  constexpr int64_t kLong = 2048;  // elements of a sum for which a block takes care
  const Product product{{call.a, call.dtype},
                        {call.b, call.dtype},
                        {call.c, call.dtype},
                        Divider(call.n),
                        Divider(call.m),
                        call.k,
                        call.transpose_a ? 1 : call.lda,
                        call.transpose_a ? call.lda : 1,
                        call.step_a,
                        call.transpose_b ? call.ldb : 1,
                        call.transpose_b ? 1 : call.ldb,
                        call.step_b,
                        call.ldc,
                        call.step_c,
                        static_cast<int64_t>(call.alpha)};
  for_each_group(stream, "dot", call.batch * call.m * call.n, call.k >= kLong, product);
}

}  // namespace cuda
}  // namespace mxnet
