// SPDX-License-Identifier: Apache-2.0
// Categories drawn by their probabilities.
#pragma once
#include <algorithm>
#include <cstdint>

#include "op/loops/convert.h"

namespace mxnet {

// Running sums, in the type F that samples are compared in.
template <class F, class T>
void running_sums(const T* probabilities, int64_t count, F* sums) {
  F sum = 0;
  for (int64_t i = 0; i < count; ++i) sums[i] = sum += convert<F>(probabilities[i]);
}

// The first category whose running sum is above `u`; the last one where rounding leaves none.
template <class F>
int64_t category(const F* sums, int64_t count, F u) {
  return std::min<int64_t>(std::upper_bound(sums, sums + count, u) - sums, count - 1);
}

}  // namespace mxnet
