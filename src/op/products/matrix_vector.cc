// SPDX-License-Identifier: Apache-2.0
// Compiles the loops for each instruction set.
#include "op/products/matrix_vector.h"

#include "base/simd.h"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/products/matrix_vector.inc"
#include "base/simd_targets.h"

}  // namespace

void multiply_by_vector(int64_t m, int64_t k, const float* a, int64_t row, const float* x,
                        float* y) {
  [[gnu::tls_model("initial-exec")]] constinit static thread_local bool backwards = false;
  backwards = !backwards;
  MX_SIMD_CALL(multiply_rows<float>)(m, k, a, row, x, y, backwards);
}

}  // namespace mxnet
