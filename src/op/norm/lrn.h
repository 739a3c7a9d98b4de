// SPDX-License-Identifier: Apache-2.0
// What LRN is told.
#pragma once
#include <algorithm>
#include <cstdint>

namespace mxnet {

struct LrnParams {
  float alpha, beta, knorm;
  uint32_t nsize;

  // Channels on either side that take part; an even size counts as the next smaller odd one.
  int64_t reach() const { return (std::max(int64_t{nsize}, int64_t{1}) - 1) / 2; }
};

}  // namespace mxnet
