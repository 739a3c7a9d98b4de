// SPDX-License-Identifier: Apache-2.0
// Walks through large arrays go to and fro, and meet everything once either way.
#include "op/run/sweep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace mxnet {
namespace {

constexpr int64_t kLarge = int64_t{1} << 24;

using Blocks = std::vector<std::pair<int64_t, int64_t>>;
Blocks blocks_of(const Sweep& sweep, int64_t count, int64_t block) {
  Blocks blocks;
  sweep.blocks(count, block, [&](int64_t first, int64_t n) { blocks.emplace_back(first, n); });
  return blocks;
}

TEST(Sweep, EveryOtherOneOfManyBytesGoesBackwards) {
  const bool back = Sweep(kLarge).back();
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(Sweep(1000).back());  // what stays near does not count
    EXPECT_EQ(Sweep(kLarge).back(), (i % 2 == 0) != back);
  }
}

TEST(Sweep, MeetsTheSameBlocksEitherWay) {
  for (const int64_t count : {0, 1, 7, 8, 9, 16, 17}) {
    for (const int64_t block : {1, 3, 8, 100}) {
      Blocks expected;
      for (int64_t first = 0; first < count; first += block)
        expected.emplace_back(first, std::min(block, count - first));
      EXPECT_EQ(blocks_of(Sweep(0), count, block), expected);
      for (int turn = 0; turn < 2; ++turn) {
        const Sweep sweep(kLarge);
        Blocks met = blocks_of(sweep, count, block);
        if (sweep.back()) std::reverse(met.begin(), met.end());
        EXPECT_EQ(met, expected) << count << " by " << block;
      }
    }
  }
}

}  // namespace
}  // namespace mxnet
