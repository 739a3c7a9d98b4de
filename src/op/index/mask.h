// SPDX-License-Identifier: Apache-2.0
// Masks of any type, as positions of what is not zero.
#pragma once
#include "op/index/positions.h"

namespace mxnet {

int64_t count_true(const Tensor& mask);
// Calls fn(position) for every element that is not zero, in order.
template <class F>
void for_true(const Tensor& mask, const F& fn) {
  std::array<bool, Positions::kBlock> block;
  std::array<int64_t, Positions::kBlock + 1> chosen;
  for (int64_t start = 0; start < mask.size(); start += Positions::kBlock) {
    const int64_t n = std::min(Positions::kBlock, mask.size() - start);
    read_truth(mask, start, n, block.data());
    // Without a branch: what is not chosen is overwritten by the next one.
    std::size_t count = 0;
    for (int64_t i = 0; i < n; ++i) {
      chosen[count] = start + i;
      count += block[static_cast<std::size_t>(i)];
    }
    for (std::size_t i = 0; i < count; ++i) fn(chosen[i]);
  }
}

}  // namespace mxnet
