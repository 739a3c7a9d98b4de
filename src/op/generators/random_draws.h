// SPDX-License-Identifier: Apache-2.0
// Single random numbers out of a stream of the CPU.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>

#include "op/generators/mt19937.h"
#include "op/generators/random_numbers.h"

namespace mxnet {

// Words out of a stream, taken in small batches; what is left over goes back at the end.
class Draws : public RandomNumbers<Draws> {
 public:
  explicit Draws(Mt19937& stream) : stream_(stream) {}
  ~Draws() { stream_.give_back(end_ - next_); }
  Draws(const Draws&) = delete;
  Draws& operator=(const Draws&) = delete;

  uint32_t word() {
    if (next_ == end_) refill();
    return words_[static_cast<std::size_t>(next_++)];
  }

 private:
  static constexpr int kBatch = 64;
  void refill() {
    end_ = std::min(stream_.available(), kBatch);
    next_ = 0;
    stream_.fill(words_.data(), end_);
  }

  Mt19937& stream_;
  int next_ = 0, end_ = 0;
  std::array<uint32_t, kBatch> words_;
};

// The same for uniform numbers of double, two words each.
class DoubleDraws : public RandomNumbers<DoubleDraws> {
 public:
  explicit DoubleDraws(Mt19937& stream) : stream_(stream) {}
  ~DoubleDraws() { stream_.give_back(2 * (end_ - next_)); }
  DoubleDraws(const DoubleDraws&) = delete;
  DoubleDraws& operator=(const DoubleDraws&) = delete;

  template <class F>
  double uniform() {
    static_assert(std::is_same_v<F, double>);
    if (next_ == end_) refill();
    return uniforms_[static_cast<std::size_t>(next_++)];
  }

 private:
  static constexpr int kBatch = 64;
  void refill() {
    // A number of the last word of a state and the first of the next one is drawn by itself.
    next_ = 0;
    end_ = std::clamp(stream_.available() / 2, 1, kBatch);
    std::array<uint32_t, std::size_t{2} * kBatch> words;
    stream_.fill(words.data(), int64_t{2} * end_);
    for (std::size_t i = 0; i < static_cast<std::size_t>(end_); ++i)
      uniforms_[i] = uniform_of(words[2 * i], words[2 * i + 1]);
  }

  Mt19937& stream_;
  int next_ = 0, end_ = 0;
  std::array<double, kBatch> uniforms_;
};

}  // namespace mxnet
