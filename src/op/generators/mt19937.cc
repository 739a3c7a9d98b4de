// SPDX-License-Identifier: Apache-2.0
// Seeding, renewal and bulk output of the Mersenne Twister, by the widest instructions of the CPU.
#include "op/generators/mt19937.h"

#include <algorithm>

#include "base/simd.h"
#include "base/simd_intrinsics.h"

// Vectors are passed between functions that are always inlined: no call, no ABI to warn of.
#pragma GCC diagnostic ignored "-Wpsabi"
#pragma GCC diagnostic ignored "-Wuninitialized"  // GCC 12's own intrinsics, not ours

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

template <class Number, class Part, class Whole>
void Mt19937::take(Number* out, int64_t n, const Part& part, const Whole& whole) {
  while (n > 0) {
    int count = kWords;
    if (next_ == kWords && n >= kWords) {
      whole(state_.data(), out);
    } else {
      count = static_cast<int>(std::min<int64_t>(n, available()));
      part(state_.data() + next_, out, count);
      next_ += count;
    }
    out += count;
    n -= count;
  }
}

void Mt19937::fill(uint32_t* out, int64_t n) {
  take(out, n, MX_SIMD_CALL(temper_words), MX_SIMD_CALL(next_words<>));
}

void Mt19937::fill_rounded(float* out, int64_t n) {
  take(out, n, MX_SIMD_CALL(temper_rounded), MX_SIMD_CALL(next_rounded<>));
}

void Mt19937::fill_uniform(float* out, int64_t n, float low, float range) {
  take(
      out, n,
      [=](const uint32_t* words, float* to, int count) {
        MX_SIMD_CALL(temper_uniform)(words, to, count, low, range);
      },
      [=](uint32_t* words, float* to) {
        MX_SIMD_CALL(next_uniform<>)
        (words, to, low, range);
      });
}

}  // namespace mxnet
