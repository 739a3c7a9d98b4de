// SPDX-License-Identifier: Apache-2.0
// Lengths of which one may be unknown.
#include "op/length.h"

#include <gtest/gtest.h>

namespace mxnet::length {
namespace {

constexpr int64_t kUnknown = Shape::kUnknownDim;

TEST(Length, IsComputedWhereAllIsKnown) {
  EXPECT_EQ(plus(3, 4), 7);
  EXPECT_EQ(plus(0, 0), 0);
  EXPECT_EQ(times(3, 4), 12);
  EXPECT_EQ(times(0, 4), 0);
  EXPECT_EQ(times(int64_t{1} << 31, 4), int64_t{1} << 33);
  EXPECT_EQ(over(12, 4), 3);
  EXPECT_EQ(over(14, 4), 3);
  EXPECT_EQ(over(0, 4), 0);
}

TEST(Length, ThatInt64DoesNotHoldIsTheMost) {
  EXPECT_EQ(plus(kMost, 1), kMost);
  EXPECT_EQ(plus(kMost, 0), kMost);
  EXPECT_EQ(times(int64_t{1} << 32, int64_t{1} << 32), kMost);
  EXPECT_EQ(times(kMost, 0), 0);
}

TEST(Length, OfAnUnknownOneIsUnknown) {
  EXPECT_FALSE(known(kUnknown));
  EXPECT_TRUE(known(0));
  for (const int64_t other : {kUnknown, int64_t{0}, int64_t{1}, int64_t{5}}) {
    EXPECT_EQ(plus(kUnknown, other), kUnknown) << other;
    EXPECT_EQ(plus(other, kUnknown), kUnknown) << other;
    EXPECT_EQ(times(kUnknown, other), kUnknown) << other;
    EXPECT_EQ(times(other, kUnknown), kUnknown) << other;
  }
  EXPECT_EQ(over(kUnknown, 1), kUnknown);
  EXPECT_EQ(over(kUnknown, 4), kUnknown);
}

}  // namespace
}  // namespace mxnet::length
