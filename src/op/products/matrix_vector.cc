// SPDX-License-Identifier: Apache-2.0
// Compiles the loops for each instruction set.
#include "op/products/matrix_vector.h"

#include <array>

#include "base/processor_facts.h"
#include "base/simd.h"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/products/matrix_vector.inc"
#include "base/simd_targets.h"

}  // namespace

bool gains_by_vector() { return processor_facts().gains_by_rows_at_once; }

void multiply_by_vector(int64_t m, int64_t k, const float* a, int64_t row, const float* x,
                        float* y) {
  [[gnu::tls_model("initial-exec")]] constinit static thread_local bool backwards = false;
  // Fewer rows than the loop takes at once: one in all their places, a thread's part of a few.
  if (constexpr int64_t kAtOnce = 4; m < kAtOnce) {
    std::array<float, kAtOnce> sums;
    for (int64_t r = 0; r < m; ++r) {
      MX_SIMD_CALL(multiply_rows<float>)(kAtOnce, k, a + r * row, 0, x, sums.data(), false);
      y[r] = sums[0];
    }
    return;
  }
  backwards = !backwards;
  MX_SIMD_CALL(multiply_rows<float>)(m, k, a, row, x, y, backwards);
}

}  // namespace mxnet
