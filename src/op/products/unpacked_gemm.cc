// SPDX-License-Identifier: Apache-2.0
// Compiles the loops for each instruction set.
#include "op/products/unpacked_gemm.h"

#include <utility>

#include "base/processor_facts.h"
#include "base/simd.h"

namespace mxnet::unpacked_gemm {
namespace {

using packed_gemm::pack;
using packed_gemm::View;

#define MX_SIMD_FILE "op/products/unpacked_gemm.inc"
#include "base/simd_targets.h"

}  // namespace

bool gains() { return processor_facts().gains_by_open_tiles; }

template <class T>
void multiply(int64_t m, int64_t n, int64_t k, const View<T>& a, const View<T>& b, T* c,
              int64_t ldc, bool add) {
  MX_SIMD_CALL(multiply_open<T>)(m, n, k, a, b, c, ldc, add);
}
template void multiply(int64_t, int64_t, int64_t, const View<float>&, const View<float>&, float*,
                       int64_t, bool);
template void multiply(int64_t, int64_t, int64_t, const View<double>&, const View<double>&, double*,
                       int64_t, bool);

}  // namespace mxnet::unpacked_gemm
