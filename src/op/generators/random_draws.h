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

}  // namespace mxnet
