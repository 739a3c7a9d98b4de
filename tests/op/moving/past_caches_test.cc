// SPDX-License-Identifier: Apache-2.0
// Results that are written past the caches are those that a loop would have written.
#include "op/moving/past_caches.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace mxnet {
namespace {

// Lengths around those of a line and of a block, a result that begins anywhere in a line, whole
// results that fit the caches and that do not, and inputs that are the result.
TEST(PastCaches, WritesEveryResultOnceAndNothingElse) {
  constexpr int64_t kMost = 3000;
  std::vector<int64_t> memory(kMost + 32);
  for (const int64_t whole : {kMost, kPastCaches}) {
    for (const bool apart : {false, true}) {
      for (const int64_t count : {0, 1, 7, 8, 9, 511, 512, 513, 1024, 2999, 3000}) {
        for (int64_t begin = 0; begin < 9; ++begin) {
          memory.assign(memory.size(), -1);
          int64_t* const out = memory.data() + begin;
          write_results(out, count, whole, apart, [&](int64_t first, int64_t* y, int64_t n) {
            for (int64_t i = 0; i < n; ++i) y[i] = 3 * (first + i);
          });
          for (int64_t i = 0; i < static_cast<int64_t>(memory.size()); ++i) {
            const bool inside = i >= begin && i < begin + count;
            ASSERT_EQ(memory[static_cast<std::size_t>(i)], inside ? 3 * (i - begin) : -1)
                << count << " of " << whole << " from " << begin;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace mxnet
