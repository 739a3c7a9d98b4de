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
  for (int64_t start = 0; start < mask.size(); start += Positions::kBlock) {
    const int64_t n = std::min(Positions::kBlock, mask.size() - start);
    read_truth(mask, start, n, block.data());
    for (int64_t i = 0; i < n; ++i)
      if (block[static_cast<std::size_t>(i)]) fn(start + i);
  }
}

}  // namespace mxnet
