// SPDX-License-Identifier: Apache-2.0
// The vector that starts in place: growth, reuse, destruction; as a list of numbers, what
// std::vector gives for the same calls, also after copies and moves to and from either place.
#include "op/inline_vector.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

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

using List = InlineVector<int64_t, 8>;

List counted(std::size_t size) {
  List list;
  for (std::size_t i = 0; i < size; ++i) list.push_back(static_cast<int64_t>(i) + 1);
  return list;
}
void expect_counted(const List& list, std::size_t size) {
  ASSERT_EQ(list.size(), size);
  EXPECT_EQ(list.empty(), size == 0);
  for (std::size_t i = 0; i < size; ++i) EXPECT_EQ(list[i], static_cast<int64_t>(i) + 1);
  EXPECT_EQ(std::span<const int64_t>(list).size(), size);
}

constexpr std::size_t kSizes[] = {0, 1, 7, 8, 9, 16, 17, 100};

TEST(InlineVector, CopiesAndMovesKeepTheNumbers) {
  for (const std::size_t from : kSizes) {
    for (const std::size_t to : kSizes) {
      const List source = counted(from);
      List copy = counted(to), moved = counted(to), given = source;
      copy = source;
      expect_counted(copy, from);
      moved = std::move(given);
      expect_counted(moved, from);
      given = copy;  // one that was moved from can be used again
      expect_counted(given, from);
      List made(std::move(given));
      expect_counted(made, from);
      expect_counted(source, from);
      EXPECT_EQ(made, source);
      EXPECT_EQ(counted(from) == counted(to), from == to);
    }
  }
}

TEST(InlineVector, OwnersAreNeitherCopiedNorMoved) {
  using Owners = InlineVector<std::shared_ptr<int>, 2>;
  EXPECT_FALSE(std::is_copy_constructible_v<Owners>);
  EXPECT_FALSE(std::is_move_constructible_v<Owners>);
  EXPECT_FALSE(std::is_copy_assignable_v<Owners>);
  EXPECT_FALSE(std::is_move_assignable_v<Owners>);
  EXPECT_TRUE(std::is_nothrow_move_constructible_v<List>);
}

TEST(InlineVector, NumbersComeAndGoAtTheEnd) {
  for (const std::size_t size : kSizes) {
    List list = counted(size);
    list.push_back(-1);
    EXPECT_EQ(list.back(), -1);
    list.pop_back();
    expect_counted(list, size);
    const List tail = counted(size);
    list.append(tail.begin(), tail.end());
    ASSERT_EQ(list.size(), 2 * size);
    for (std::size_t i = 0; i < size; ++i) EXPECT_EQ(list[size + i], tail[i]);
    list.assign(size, 5);
    EXPECT_EQ(std::vector<int64_t>(list.begin(), list.end()), std::vector<int64_t>(size, 5));
  }
}

TEST(InlineVector, IsMadeOfNumbersOrOfOneSeveralTimes) {
  const List named{3, 1, 2};
  EXPECT_EQ(std::vector<int64_t>(named.begin(), named.end()), (std::vector<int64_t>{3, 1, 2}));
  EXPECT_EQ(named.front(), 3);
  const List repeated(11, 4), part(named.begin() + 1, named.end());
  EXPECT_EQ(std::vector<int64_t>(repeated.begin(), repeated.end()), std::vector<int64_t>(11, 4));
  EXPECT_EQ(part, (List{1, 2}));
}

}  // namespace
}  // namespace mxnet
