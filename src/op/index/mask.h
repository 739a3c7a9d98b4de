// SPDX-License-Identifier: Apache-2.0
// Masks of any type, as positions of what is not zero.
#pragma once
#include <algorithm>
#include <array>
#include <vector>

#include "op/moving/positions.h"
#include "op/run/parallel.h"

namespace mxnet {

int64_t count_true(const Tensor& mask);
// The positions of what is not zero among elements [start, start + n), n <= Positions::kBlock, into
// `to`; how many. Room for n is written over.
int64_t true_positions(const Tensor& mask, int64_t start, int64_t n, int64_t* to);

// A mask in parts, for a thread each. What is not zero has an ordinal: how many there are in front
// of it.
class MaskParts {
 public:
  // Counts. `cost`: elementary operations that an element will count for.
  MaskParts(const Tensor& mask, double cost);
  // Of what is not zero.
  int64_t count() const { return ordinals_.back(); }

  // fn(positions, how many, ordinal of the first) for blocks of what is not zero, in order within a
  // part.
  template <class F>
  void each_block(const F& fn) const {
    const auto parts = static_cast<int64_t>(ordinals_.size()) - 1;
    parallel_for(
        parts, cost_ * static_cast<double>(part_),
        [&](int64_t first, int64_t last) {
          std::array<int64_t, Positions::kBlock> at;
          int64_t ordinal = ordinals_[static_cast<std::size_t>(first)];
          const int64_t end = std::min(last * part_, mask_.size());
          for (int64_t start = first * part_; start < end; start += Positions::kBlock) {
            const int64_t n = std::min(Positions::kBlock, end - start);
            const int64_t count = true_positions(mask_, start, n, at.data());
            fn(at.data(), count, ordinal);
            ordinal += count;
          }
        },
        1);
  }
  // fn(position, ordinal) for each.
  template <class F>
  void each(const F& fn) const {
    each_block([&](const int64_t* at, int64_t count, int64_t ordinal) {
      for (int64_t i = 0; i < count; ++i) fn(at[i], ordinal + i);
    });
  }

 private:
  const Tensor& mask_;
  double cost_;
  int64_t part_;                   // elements, whole blocks
  std::vector<int64_t> ordinals_;  // of the first of each part, and of all
};

}  // namespace mxnet
