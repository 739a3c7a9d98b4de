// SPDX-License-Identifier: Apache-2.0
// The description of a product of matrices without gaps, for whoever needs no more of a GemmCall.
#pragma once
#include "op/run/gpu_table.h"

namespace mxnet::cuda {

// c (m x n) = op(a) op(b), all of them dense.
inline GemmCall dense_product(DType dtype, bool transpose_a, bool transpose_b, int64_t m, int64_t n,
                              int64_t k, const void* a, const void* b, void* c) {
  return {.dtype = dtype,
          .transpose_a = transpose_a,
          .transpose_b = transpose_b,
          .m = m,
          .n = n,
          .k = k,
          .a = a,
          .lda = transpose_a ? m : k,
          .b = b,
          .ldb = transpose_b ? k : n,
          .c = c,
          .ldc = n};
}

}  // namespace mxnet::cuda
