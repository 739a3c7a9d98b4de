// SPDX-License-Identifier: Apache-2.0
// Packing of intervals: nothing that lives at one time shares bytes, whatever the options, and the
// options do to the number of bytes what they say.
#include "graph/memory_plan.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace mxnet {
namespace {

using Intervals = std::vector<MemoryInterval>;

// Independent of the packer: all pairs.
void expect_disjoint(const Intervals& intervals, const Packing& packing, int match_range) {
  ASSERT_EQ(packing.offsets.size(), intervals.size());
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    const MemoryInterval& a = intervals[i];
    EXPECT_EQ(packing.offsets[i] % kArenaAlignment, 0u);
    EXPECT_LE(packing.offsets[i] + a.bytes, packing.bytes);
    for (std::size_t j = 0; j < i; ++j) {
      const MemoryInterval& b = intervals[j];
      const bool share = a.bytes > 0 && b.bytes > 0 &&
                         packing.offsets[i] < packing.offsets[j] + b.bytes &&
                         packing.offsets[j] < packing.offsets[i] + a.bytes;
      if (!share) continue;
      EXPECT_TRUE(a.last < b.first || b.last < a.first)
          << "intervals " << i << " and " << j << " live at one time and share bytes";
      EXPECT_GT(match_range, 0) << "intervals " << i << " and " << j << " share bytes";
    }
  }
}

Intervals random_intervals(std::mt19937& random, int count, int steps) {
  Intervals intervals;
  for (int i = 0; i < count; ++i) {
    const int a = static_cast<int>(random() % static_cast<unsigned>(steps));
    const int b = std::min<int>(steps - 1, a + static_cast<int>(random() % 12));
    intervals.push_back({(random() % 64 + 1) << (random() % 12), a, b});
  }
  return intervals;
}

std::size_t sum(const Intervals& intervals) {
  return std::accumulate(
      intervals.begin(), intervals.end(), std::size_t{0},
      [](std::size_t s, const MemoryInterval& i) { return s + arena_bytes(i.bytes); });
}

TEST(MemoryPlan, ValuesThatFollowOneAnotherTakeOnePlace) {
  const Intervals chain{{256, 0, 1}, {256, 2, 3}, {256, 4, 5}};
  EXPECT_EQ(pack_intervals(chain, {}).bytes, 256u);
}

TEST(MemoryPlan, AValueGoesIntoTheGapBetweenTwoOthers) {
  // 1024 dies; 512 and 256 lie in its place while another 256 lives on behind.
  const Intervals intervals{{1024, 0, 1}, {256, 0, 5}, {512, 2, 5}, {512, 2, 5}};
  EXPECT_EQ(pack_intervals(intervals, {}).bytes, 1024u + 256u);
}

TEST(MemoryPlan, RandomProgramsAreDisjointAndNeverBelowTheLowerBound) {
  const unsigned seed = 20241;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 150; ++round) {
    const int count = static_cast<int>(random() % 60), range = 1 << (random() % 8);
    const Intervals intervals = random_intervals(random, count, 40);
    for (bool search : {false, true}) {
      const PackingOptions options{range, search};
      const Packing packing = pack_intervals(intervals, options);
      expect_disjoint(intervals, packing, range);
      EXPECT_GE(packing.bytes, most_live_bytes(intervals));
      EXPECT_LE(packing.bytes, sum(intervals));
    }
  }
}

TEST(MemoryPlan, ManyTensorsAreMatchedBySlots) {
  std::mt19937 random(3);
  const Intervals intervals = random_intervals(random, 9000, 4000);
  const Packing packing = pack_intervals(intervals, {});
  EXPECT_LT(packing.bytes, sum(intervals) / 4);
  // All pairs would be slow: those that follow each other in memory and time are enough to see.
  const Intervals some(intervals.begin(), intervals.begin() + 1500);
  Packing part{{packing.offsets.begin(), packing.offsets.begin() + 1500}, packing.bytes};
  expect_disjoint(some, part, 16);
}

TEST(MemoryPlan, NothingSharesWithMatchRangeZero) {
  std::mt19937 random(5);
  const Intervals intervals = random_intervals(random, 40, 40);
  const Packing packing = pack_intervals(intervals, {.match_range = 0});
  expect_disjoint(intervals, packing, 0);
  EXPECT_EQ(packing.bytes, sum(intervals));
}

TEST(MemoryPlan, SizesOutsideTheMatchRangeKeepApart) {
  const Intervals intervals{{4096, 0, 1}, {64, 2, 3}};
  EXPECT_EQ(pack_intervals(intervals, {.match_range = 63}).bytes, 4096u + 64u);
  EXPECT_EQ(pack_intervals(intervals, {.match_range = 64}).bytes, 4096u);
}

TEST(MemoryPlan, SearchingTheMatchRangeNeverCostsBytesAndSometimesSavesSome) {
  const unsigned seed = 77;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  int saved = 0;
  for (int round = 0; round < 200; ++round) {
    const Intervals intervals = random_intervals(random, 50, 30);
    const std::size_t one = pack_intervals(intervals, {.match_range = 64}).bytes;
    const std::size_t all =
        pack_intervals(intervals, {.match_range = 64, .search_match_range = true}).bytes;
    EXPECT_LE(all, one);
    saved += all < one;
  }
  EXPECT_GT(saved, 0);
}

}  // namespace
}  // namespace mxnet
