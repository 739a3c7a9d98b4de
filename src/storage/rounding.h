// SPDX-License-Identifier: Apache-2.0
// The documented chunk sizes: what a pool makes of a request. One small value type, so that a
// table-driven test can compare it with an independent computation for every setting, and so that
// the hot path inlines it.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "base/config_sections.h"
#include "base/config_types.h"

namespace mxnet {

// Immutable. The strategies (docs/memory.md):
//   Naive     multiples of the page size; above the large size, of the large size (1 = off)
//   Round     powers of two from a page up to 2^cutoff, multiples of 2^cutoff above
//   Unpooled  the request itself
// Where small blocks are worth it, the first two make a request of up to half a page a power of
// two, from kSmallest on.
class Rounding {
 public:
  // What no device has; requests that rounding would overflow become this.
  static constexpr std::size_t kImpossible = std::numeric_limits<std::size_t>::max();
  // A line of the cache, which kernels of the host want their operands to begin at.
  static constexpr std::size_t kSmallest = 64;

  // `variables` is the prefix of the environment's names, for errors: "MXNET_GPU". Throws
  // Error(kValue) when values that are each allowed contradict each other.
  Rounding(PoolType type, const PoolConfig& config, std::string_view variables,
           bool small_blocks = false);

  // REQUIRES: bytes > 0.
  std::size_t operator()(std::size_t bytes) const {
    if (bytes <= power_limit_) return std::bit_ceil(bytes < kSmallest ? kSmallest : bytes);
    if (bytes <= small_limit_) [[likely]] {
      const std::size_t whole = (bytes + unit_mask_) & ~unit_mask_;
      return type_ != PoolType::kRound ? whole : std::bit_ceil(whole);
    }
    if (bytes > kLargest) return kImpossible;
    const std::size_t chunk = large_mask_ != 0
                                  ? (bytes + large_mask_) & ~large_mask_
                                  : (bytes + large_unit_ - 1) / large_unit_ * large_unit_;
    return chunk <= kLargest ? chunk : kImpossible;
  }

 private:
  // Beyond any address space, and so far below the largest number that sums of chunks do not
  // overflow.
  static constexpr std::size_t kLargest = std::size_t{1} << 62;

  PoolType type_;
  std::size_t power_limit_ = 0;  // up to here powers of two below a page
  std::size_t unit_mask_ = 0;    // page size - 1
  std::size_t small_limit_ = 0;  // up to here `unit_mask_` rules
  std::size_t large_unit_ = 1;   // above it, multiples of this
  std::size_t large_mask_ = 0;   // large_unit_ - 1 if that is a power of two: a division less
};

}  // namespace mxnet
