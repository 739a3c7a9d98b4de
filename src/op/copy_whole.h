// SPDX-License-Identifier: Apache-2.0
// The copy that operators begin with which change parts of an array.
#pragma once
#include <cstring>

#include "op/kernel.h"
#include "op/parallel.h"

namespace mxnet {

// Nothing where both are the same memory. REQUIRES: equal sizes and types.
inline void copy_whole(const Tensor& from, const Tensor& to) {
  if (from.data == to.data) return;
  constexpr double kCostOfByte = 0.125;
  parallel_for(to.size() * static_cast<int64_t>(dtype_size(to.dtype)), kCostOfByte,
               [&](int64_t first, int64_t last) {
                 std::memcpy(to.as<char>() + first, from.as<char>() + first,
                             static_cast<std::size_t>(last - first));
               });
}

}  // namespace mxnet
