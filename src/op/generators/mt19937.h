// SPDX-License-Identifier: Apache-2.0
// The Mersenne Twister MT19937 (Matsumoto and Nishimura 1998), the generator behind all random
// numbers on the CPU. Numbers are made in bulk by vector instructions: the recurrence reaches 227
// words back, so that whole vectors of new words depend on old ones only.
#pragma once
#include <array>
#include <cstdint>

namespace mxnet {

// Not thread-safe.
class Mt19937 {
 public:
  static constexpr int kWords = 624;

  explicit Mt19937(uint32_t seed = 5489) { this->seed(seed); }
  void seed(uint32_t seed);

  // The next numbers of the stream: each uniform over all 32-bit words.
  void fill(uint32_t* out, int64_t n);
  // low + u * range with u in [0, 1) out of one number each, computed in float without contraction.
  void fill_uniform(float* out, int64_t n, float low, float range);
  // The numbers rounded to float, the greatest down: they stay below 2^32.
  void fill_rounded(float* out, int64_t n);
  // Numbers until the state must be renewed; at least 1.
  int available() {
    if (next_ == kWords) renew();
    return left();
  }
  // The same, but none if it must be renewed now.
  int left() const { return kWords - next_; }
  // Takes numbers back. REQUIRES: the last `n` were taken since the state was renewed.
  void give_back(int n) { next_ -= n; }

 private:
  void renew();
  // part(words, out, count) for what is left of a state, whole(words, out) for all of the next one.
  template <class Number, class Part, class Whole>
  void take(Number* out, int64_t n, const Part& part, const Whole& whole);

  // And the first ones again behind the last.
  alignas(64) std::array<uint32_t, kWords + 16> state_;
  int next_ = kWords;
};

}  // namespace mxnet
