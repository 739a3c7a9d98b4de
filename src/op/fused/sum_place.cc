// SPDX-License-Identifier: Apache-2.0
// A copy on all threads.
#include "op/fused/sum_place.h"

#include <cstring>

#include "op/kernel.h"
#include "op/run/parallel.h"

namespace mxnet {

void place_sum(const KernelContext& context, std::size_t bytes) {
  const auto* from = static_cast<const char*>(context.in(1).data);
  auto* to = static_cast<char*>(context.out(0).data);
  if (from == to) return;
  constexpr double kCostOfAByte = 0.25;
  constexpr int64_t kPage = 4096;
  parallel_for(
      static_cast<int64_t>(bytes), kCostOfAByte,
      [&](int64_t first, int64_t last) {
        std::memcpy(to + first, from + first, static_cast<std::size_t>(last - first));
      },
      kPage);
}

}  // namespace mxnet
