// SPDX-License-Identifier: Apache-2.0
// Seeding, renewal and bulk output of the Mersenne Twister, by the widest instructions of the CPU.
#include "op/generators/mt19937.h"

#include <algorithm>

#include "base/simd.h"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/generators/mt19937.inc"
#include "base/simd_targets.h"

}  // namespace

void Mt19937::seed(uint32_t seed) {
  state_[0] = seed;
  for (std::size_t i = 1; i < kWords; ++i) {
    const uint32_t last = state_[i - 1];
    state_[i] = 1812433253u * (last ^ (last >> 30)) + static_cast<uint32_t>(i);
  }
  next_ = kWords;
}

void Mt19937::renew() {
  MX_SIMD_CALL(renew_state)(state_.data());
  next_ = 0;
}

void Mt19937::fill(uint32_t* out, int64_t n) {
  while (n > 0) {
    const int count = static_cast<int>(std::min<int64_t>(n, available()));
    MX_SIMD_CALL(temper_words)(state_.data() + next_, out, count);
    next_ += count;
    out += count;
    n -= count;
  }
}

void Mt19937::fill_uniform(float* out, int64_t n, float low, float range) {
  while (n > 0) {
    const int count = static_cast<int>(std::min<int64_t>(n, available()));
    MX_SIMD_CALL(temper_uniform)(state_.data() + next_, out, count, low, range);
    next_ += count;
    out += count;
    n -= count;
  }
}

}  // namespace mxnet
