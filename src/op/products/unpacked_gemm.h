// SPDX-License-Identifier: Apache-2.0
// Matrix products whose factors stay where they lie: what packing takes is a tenth of a product of
// some hundred rows and columns. All of it runs on the calling thread.
#pragma once
#include <cstdint>

#include "op/products/packed_gemm.h"

namespace mxnet::unpacked_gemm {

// Whether that is faster than OpenBLAS here (docs/kernels.md, "Products").
bool gains();

// Depth that is summed at once; of more there are slices, of about the same depth. Errors grow with
// it.
inline constexpr int64_t kMostDepth = 384;
// How many slices there are, and how deep they are.
constexpr int64_t slice_depth(int64_t k) {
  const int64_t slices = (k + kMostDepth - 1) / kMostDepth;
  return slices == 0 ? 0 : (k + slices - 1) / slices;
}

// c = alpha a b + beta c (rows of c are `ldc` apart; where beta is zero nothing is read of it),
// where both of a's or both of b's rows or columns are in steps of one. Columns of b that do are
// turned, a panel at a time. A number of c is the same beside any others. REQUIRES: AVX-512.
template <class T>
void multiply(int64_t m, int64_t n, int64_t k, const packed_gemm::View<T>& a,
              const packed_gemm::View<T>& b, T* c, int64_t ldc, T alpha, T beta);

}  // namespace mxnet::unpacked_gemm
