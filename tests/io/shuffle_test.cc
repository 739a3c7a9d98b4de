// SPDX-License-Identifier: Apache-2.0
// Random orders that never change.
#include "io/shuffle.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

namespace mxnet::io {
namespace {

TEST(Shuffle, GivesTheOrdersOfTheReference) {
  // Of MNISTIter of 1.9.1 with seed 5.
  std::vector<int> items(11);
  std::iota(items.begin(), items.end(), 0);
  std::mt19937 random(5);
  shuffle(items, random);
  EXPECT_EQ(items, (std::vector<int>{10, 5, 6, 3, 9, 0, 1, 7, 8, 4, 2}));
}

TEST(Shuffle, MakesEveryOrderEquallyOften) {
  std::mt19937 random(1);
  std::array<int, 27> seen{};
  constexpr int kRuns = 60000;
  for (int i = 0; i < kRuns; ++i) {
    std::vector<int> items{0, 1, 2};
    shuffle(items, random);
    ++seen[static_cast<std::size_t>(items[0] * 9 + items[1] * 3 + items[2])];
  }
  for (const int count : seen) {
    if (count > 0) {
      EXPECT_NEAR(count, kRuns / 6, 400);
    }
  }
}

}  // namespace
}  // namespace mxnet::io
