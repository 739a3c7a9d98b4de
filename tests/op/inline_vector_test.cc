// SPDX-License-Identifier: Apache-2.0
// The vector that starts in place: growth, reuse, destruction.
#include "op/inline_vector.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace mxnet {
namespace {

TEST(InlineVector, KeepsElementsWhenItLeavesItsPlace) {
  InlineVector<std::string, 2> vector;
  for (int i = 0; i < 20; ++i) vector.push_back("number " + std::to_string(i));
  ASSERT_EQ(vector.size(), 20u);
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(vector[static_cast<std::size_t>(i)], "number " + std::to_string(i));
}

TEST(InlineVector, DestroysEachElementOnce) {
  auto counted = std::make_shared<int>(0);
  {
    InlineVector<std::shared_ptr<int>, 2> vector;
    for (int i = 0; i < 5; ++i) vector.push_back(counted);
    EXPECT_EQ(counted.use_count(), 6);
    vector.pop_back();
    vector.resize(2);
    EXPECT_EQ(counted.use_count(), 3);
    vector.clear();
    EXPECT_EQ(counted.use_count(), 1);
    vector.push_back(counted);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

TEST(InlineVector, ResizeInitialisesWithZero) {
  InlineVector<int, 4> vector;
  vector.push_back(7);
  vector.clear();
  vector.resize(6);
  for (int value : vector) EXPECT_EQ(value, 0);
}

TEST(InlineVector, StaysInPlaceUpToItsSize) {
  InlineVector<int, 4> vector(4);
  const auto* begin = reinterpret_cast<const char*>(vector.data());
  EXPECT_GE(begin, reinterpret_cast<const char*>(&vector));
  EXPECT_LT(begin, reinterpret_cast<const char*>(&vector + 1));
}

}  // namespace
}  // namespace mxnet
