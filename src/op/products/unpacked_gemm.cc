// SPDX-License-Identifier: Apache-2.0
// Compiles the loops for each instruction set.
#include "op/products/unpacked_gemm.h"

#include <utility>

#include "base/processor_facts.h"
#include "base/simd.h"
#include "base/simd_intrinsics.h"

// Vectors are passed between functions that are always inlined: no call, no ABI to warn of.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace mxnet::unpacked_gemm {
namespace {

using packed_gemm::pack;
using packed_gemm::View;

// Rows in such a distance share eight lines of the first-level cache.
template <class T>
bool is_paged(const View<T>& a) {
  constexpr int64_t kPageBytes = 4096;
  return a.column == 1 && a.row * static_cast<int64_t>(sizeof(T)) % kPageBytes == 0;
}

#define MX_SIMD_FILE "op/products/unpacked_gemm.inc"
#include "base/simd_wide_targets.h"

}  // namespace

bool gains() { return processor_facts().gains_by_open_tiles; }

template <class T>
void multiply(int64_t m, int64_t n, int64_t k, const View<T>& a, const View<T>& b, T* c,
              int64_t ldc, T alpha, T beta) {
  MX_SIMD_WIDE_AT(2, multiply_open<T>)(m, n, k, a, b, c, ldc, alpha, beta);
}
template void multiply(int64_t, int64_t, int64_t, const View<float>&, const View<float>&, float*,
                       int64_t, float, float);
template void multiply(int64_t, int64_t, int64_t, const View<double>&, const View<double>&, double*,
                       int64_t, double, double);

}  // namespace mxnet::unpacked_gemm
