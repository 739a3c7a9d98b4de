// SPDX-License-Identifier: Apache-2.0
// See rounding.h. Everything that is computed once lies in the constructor.
#include "storage/rounding.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/config.h"
#include "base/error.h"

namespace mxnet {

Rounding::Rounding(PoolType type, const PoolConfig& config, std::string_view variables,
                   bool small_blocks)
    : type_(type) {
  const auto page = static_cast<std::size_t>(config.page_size);
  if (!std::has_single_bit(page)) {
    throw Error(ErrorCode::kValue, fmt::format("{}_MEM_POOL_PAGE_SIZE", variables),
                fmt::format("given {}, expected a power of two", config.page_size));
  }
  switch (type) {
    case PoolType::kUnpooled:
      small_limit_ = kLargest;
      break;
    case PoolType::kNaive:
      unit_mask_ = page - 1;
      large_unit_ = static_cast<std::size_t>(config.large_alloc_round_size);
      small_limit_ = large_unit_ > 1 ? std::min(large_unit_, kLargest) : kLargest;
      break;
    case PoolType::kRound:
      unit_mask_ = page - 1;
      large_unit_ = std::size_t{1} << config.round_linear_cutoff;
      small_limit_ = large_unit_;
      if (large_unit_ < page) {
        throw Error(ErrorCode::kValue, fmt::format("{}_MEM_POOL_ROUND_LINEAR_CUTOFF", variables),
                    fmt::format("given {}, expected at least {}, the logarithm of the page size {}",
                                config.round_linear_cutoff, std::countr_zero(page), page));
      }
      break;
  }
  if (std::has_single_bit(large_unit_)) large_mask_ = large_unit_ - 1;
  if (small_blocks && type != PoolType::kUnpooled && page > kSmallest) power_limit_ = page / 2;
}

}  // namespace mxnet
