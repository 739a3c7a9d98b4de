// SPDX-License-Identifier: Apache-2.0
// Which words of recorded calls follow which arrays, and when that is taken for known.
#include "exec/array_moves.h"

#include <gtest/gtest.h>

namespace mxnet {
namespace {

using Addresses = ArrayMoves::Addresses;

const void* at(std::size_t address) { return reinterpret_cast<const void*>(address); }

// Calls that were given the begin of a first array, a number, the middle of a second one.
GraphArguments recorded(const Addresses& arrays, uint64_t number = 7) {
  const auto address = [&](std::size_t i) { return reinterpret_cast<uint64_t>(arrays[i]); };
  return {.calls = 1, .words = {address(0), number, address(1) + 40, address(0)}};
}

const Addresses kHere = {at(0x10000), at(0x20000)}, kThere = {at(0x30000), at(0x50000)},
                kElsewhere = {at(0x70000), at(0x60000)}, kNew = {at(0x90000), at(0x20000)};

ArrayMoves proven() {
  ArrayMoves moves({1000, 1000});
  for (const Addresses& place : {kHere, kThere, kElsewhere}) {
    EXPECT_EQ(moves.arguments(kNew), nullptr) << "not before a recording has proven it";
    moves.add(place, recorded(place));
  }
  EXPECT_TRUE(moves.learns());
  return moves;
}

TEST(ArrayMoves, ThreeRecordingsTellWhatAFourthWouldBe) {
  ArrayMoves moves = proven();
  for (const Addresses& place : {kNew, kHere, kThere, Addresses{at(0x100), at(0x1000)}}) {
    const GraphArguments* found = moves.arguments(place);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(*found, recorded(place));
  }
}

TEST(ArrayMoves, ARecordingThatIsOtherThanForetoldEndsIt) {
  ArrayMoves moves = proven();
  moves.add(kNew, recorded(kNew, 8));
  EXPECT_FALSE(moves.learns());
  EXPECT_EQ(moves.arguments(kNew), nullptr);
}

TEST(ArrayMoves, ADifferenceThatIsNoArraysMoveEndsIt) {
  ArrayMoves moves({1000, 1000});
  moves.add(kHere, recorded(kHere));
  moves.add(kThere, recorded(kThere, 8));  // a kernel chosen by addresses, say
  EXPECT_FALSE(moves.learns());
}

TEST(ArrayMoves, OtherCallsEndIt) {
  ArrayMoves moves({1000, 1000});
  moves.add(kHere, recorded(kHere));
  GraphArguments others = recorded(kThere);
  others.calls = 2;
  moves.add(kThere, std::move(others));
  EXPECT_FALSE(moves.learns());
}

TEST(ArrayMoves, AnArrayThatNoWordFollowsEndsIt) {
  ArrayMoves moves({1000, 1000});
  moves.add(kHere, {.calls = 1, .words = {0x10000}});
  moves.add(kThere, {.calls = 1, .words = {0x30000}});  // the second array moves as well
  EXPECT_FALSE(moves.learns());
}

TEST(ArrayMoves, AnArrayThatWasNotSeenToMoveIsRecordedAndLearnt) {
  const Addresses first = {at(0x10000), at(0x20000)}, second = {at(0x30000), at(0x20000)},
                  third = {at(0x40000), at(0x20000)}, both = {at(0x50000), at(0x80000)};
  ArrayMoves moves({1000, 1000});
  for (const Addresses& place : {first, second, third}) moves.add(place, recorded(place));
  EXPECT_NE(moves.arguments({at(0x70000), at(0x20000)}), nullptr);
  EXPECT_EQ(moves.arguments(both), nullptr);
  moves.add(both, recorded(both));
  EXPECT_EQ(moves.arguments(kNew), nullptr) << "two recordings with both";
  moves.add(kThere, recorded(kThere));
  const GraphArguments* found = moves.arguments(kElsewhere);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(*found, recorded(kElsewhere));
}

TEST(ArrayMoves, OtherAlignmentsAreNotForetold) {
  ArrayMoves moves = proven();
  EXPECT_EQ(moves.arguments({at(0x90010), at(0x20000)}), nullptr);
}

// By such a thing kernels choose whether they may write over what they read.
TEST(ArrayMoves, ArraysThatComeToLieTogetherOrApartAreNotForetold) {
  ArrayMoves moves = proven();
  EXPECT_EQ(moves.arguments({at(0x90000), at(0x90000)}), nullptr);
  EXPECT_EQ(moves.arguments({at(0x90000), at(0x90100)}), nullptr);
  ArrayMoves same({1000, 1000});
  for (const std::size_t place : {0x10000, 0x20000, 0x30000})
    same.add({at(place), at(place)}, recorded({at(place), at(place)}));
  EXPECT_NE(same.arguments({at(0x40000), at(0x40000)}), nullptr);
  EXPECT_EQ(same.arguments({at(0x40000), at(0x60000)}), nullptr);
  EXPECT_EQ(same.arguments({at(0x40000), at(0x10000)}), nullptr) << "one of the two stays";
}

// The end of the first may be what the word means, or the beginning of the second.
TEST(ArrayMoves, WordsBetweenTwoArraysAreNotGuessed) {
  ArrayMoves moves({0x1000, 0x1000});
  moves.add({at(0x10000), at(0x11000)}, {.calls = 1, .words = {0x10000, 0x11000}});
  moves.add({at(0x20000), at(0x21000)}, {.calls = 1, .words = {0x20000, 0x21000}});
  EXPECT_FALSE(moves.learns());
}

// A word at the beginning of an array is none of the one that ends there.
TEST(ArrayMoves, AnArrayThatNoWordFollowsIsNotThoughtSeenByWhatLiesBehindIt) {
  ArrayMoves moves({0x1000, 0x1000});
  moves.add({at(0x10000), at(0x11000)}, {.calls = 1, .words = {0x11000}});
  moves.add({at(0x20000), at(0x31000)}, {.calls = 1, .words = {0x31000}});
  EXPECT_FALSE(moves.learns());
}

TEST(ArrayMoves, RecordingsThatTeachNothingAreNotGoneOnWith) {
  ArrayMoves moves({1000, 1000});
  std::size_t recordings = 0;
  for (std::size_t place = 1; moves.learns() && place < 100; ++place, ++recordings)
    moves.add({at(place * 0x10000), at(place * 0x10000 + 0x2000 + 16 * place)}, {});
  EXPECT_EQ(recordings, 8u);
}

}  // namespace
}  // namespace mxnet
