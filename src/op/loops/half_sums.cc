// SPDX-License-Identifier: Apache-2.0
// Compiles the loops, and shares long sums among threads.
#include "op/loops/half_sums.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <vector>

#include "base/half.h"
#include "base/simd.h"
#include "base/simd_intrinsics.h"
#include "op/run/moved_bytes.h"
#include "op/run/parallel.h"

// Vectors are passed between functions that are always inlined: no call, no ABI to warn of.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/loops/half_sums.inc"
#include "base/simd_wide_targets.h"

// Of 512 bits there would be no more conversions in a second.
int level() { return std::min(simd_level(), 1); }

template <class T>
double sum_in_parts(const T* a, const T* b, int64_t n) {
  constexpr int64_t kPart = int64_t{1} << 16;  // the same for any number of threads
  const auto loop = MX_SIMD_WIDE_AT(level(), sum_products<T>);
  if (n <= kPart) return loop(a, b, n);
  std::vector<double> sums(static_cast<std::size_t>((n + kPart - 1) / kPart));
  parallel_for(
      static_cast<int64_t>(sums.size()), cost_of_moving(2.0 * sizeof(T) * kPart),
      [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i)
          sums[static_cast<std::size_t>(i)] =
              loop(a + i * kPart, b + i * kPart, std::min(kPart, n - i * kPart));
      },
      1);
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace

template <class T>
HalfSumLoop<T> half_sum_loop() {
  return MX_SIMD_WIDE_AT(level(), add_arrays<T>);
}
template HalfSumLoop<float16> half_sum_loop();
template HalfSumLoop<bfloat16> half_sum_loop();

bool multiplies_halves() { return half_sum_loop<float16>() != nullptr; }

double sum_of_products(DType dtype, const void* a, const void* b, int64_t n) {
  return dtype == DType::kFloat16
             ? sum_in_parts(static_cast<const float16*>(a), static_cast<const float16*>(b), n)
             : sum_in_parts(static_cast<const bfloat16*>(a), static_cast<const bfloat16*>(b), n);
}

}  // namespace mxnet
