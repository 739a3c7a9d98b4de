// SPDX-License-Identifier: Apache-2.0
// Masks of any type, as positions of what is not zero.
#pragma once
#include "op/moving/positions.h"

namespace mxnet {

int64_t count_true(const Tensor& mask);
// The positions of what is not zero among elements [start, start + n), n <= Positions::kBlock, into
// `to`; how many. Room for n + 1 is written over.
int64_t true_positions(const Tensor& mask, int64_t start, int64_t n, int64_t* to);
// Calls fn(position) for every element that is not zero, in order.
template <class F>
void for_true(const Tensor& mask, const F& fn) {
  std::array<int64_t, Positions::kBlock + 1> at;
  for (int64_t start = 0; start < mask.size(); start += Positions::kBlock) {
    const int64_t n = std::min(Positions::kBlock, mask.size() - start);
    const int64_t count = true_positions(mask, start, n, at.data());
    for (int64_t i = 0; i < count; ++i) fn(at[static_cast<std::size_t>(i)]);
  }
}

}  // namespace mxnet
