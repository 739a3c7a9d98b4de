// SPDX-License-Identifier: Apache-2.0
// What rank 0 decides, without messages.
#include "plugin/mpi/coordinator.h"

#include <gtest/gtest.h>

#include <cstring>

#include "kvstore/process_group.h"

namespace mxnet::mpi {
namespace {

Wish wish(uint64_t id, int64_t count = 10, int priority = 0, DType dtype = DType::kFloat32) {
  Wish made;
  made.id = id;
  made.count = count;
  made.kind = static_cast<int32_t>(kvstore::CollectiveKind::kSum);
  made.dtype = static_cast<int32_t>(dtype);
  made.element_bytes = static_cast<int32_t>(dtype_size(dtype));
  made.priority = priority;
  std::strcpy(made.name, ("key" + std::to_string(id)).c_str());
  return made;
}

using Ids = std::vector<uint64_t>;
constexpr int64_t kBig = 1 << 20;  // elements of what travels alone

TEST(Coordinator, NothingRunsBeforeAllRanksHaveAsked) {
  Coordinator coordinator(3);
  Decision decision;
  for (const int rank : {2, 0}) coordinator.ask(rank, wish(1));
  EXPECT_FALSE(coordinator.next(decision));
  EXPECT_TRUE(coordinator.lacks(1));
  EXPECT_FALSE(coordinator.lacks(0) || coordinator.lacks(2));
  coordinator.ask(1, wish(1));
  ASSERT_TRUE(coordinator.next(decision));
  EXPECT_EQ(decision.kind, Decision::kRun);
  EXPECT_EQ(decision.ids, Ids{1});
  EXPECT_FALSE(coordinator.lacks(0) || coordinator.lacks(1));
}

TEST(Coordinator, TheOrderOfAskingMayDifferBetweenRanks) {
  Coordinator coordinator(2);
  for (const uint64_t id : {1, 2}) coordinator.ask(0, wish(id, kBig));
  for (const uint64_t id : {2, 1}) coordinator.ask(1, wish(id, kBig));
  Decision decision;
  ASSERT_TRUE(coordinator.next(decision));
  EXPECT_EQ(decision.ids, Ids{2}) << "the first that was complete";
  ASSERT_TRUE(coordinator.next(decision));
  EXPECT_EQ(decision.ids, Ids{1});
}

TEST(Coordinator, UrgentOnesGoFirst) {
  Coordinator coordinator(1);
  for (const int id : {1, 2, 3}) coordinator.ask(0, wish(static_cast<uint64_t>(id), kBig, id == 2));
  Decision decision;
  coordinator.next(decision);
  EXPECT_EQ(decision.ids, Ids{2});
}

TEST(Coordinator, SmallOnesOfOneTypeGoTogether) {
  Coordinator coordinator(1);
  coordinator.ask(0, wish(1));
  coordinator.ask(0, wish(2));
  coordinator.ask(0, wish(3, 10, 0, DType::kFloat64));
  coordinator.ask(0, wish(4, kBig));
  coordinator.ask(0, wish(5));
  Decision decision;
  coordinator.next(decision);
  EXPECT_EQ(decision.ids, (Ids{1, 2}));
  for (const Ids& alone : {Ids{3}, Ids{4}, Ids{5}}) {
    coordinator.next(decision);
    EXPECT_EQ(decision.ids, alone);
  }
}

TEST(Coordinator, WithoutBatchesEachGoesAlone) {
  Coordinator coordinator(1, false);
  coordinator.ask(0, wish(1));
  coordinator.ask(0, wish(2));
  Decision decision;
  coordinator.next(decision);
  EXPECT_EQ(decision.ids, Ids{1});
}

TEST(Coordinator, ABatchIsOfBoundedSize) {
  Coordinator coordinator(1);
  for (uint64_t id = 0; id < 100; ++id) coordinator.ask(0, wish(id, 1 << 16));  // 256 KiB each
  Decision decision;
  coordinator.next(decision);
  EXPECT_EQ(decision.ids.size(), 16U);
}

TEST(Coordinator, WhoeverDisagreesIsNamedWithBothSides) {
  Coordinator coordinator(3);
  coordinator.ask(0, wish(1, 10));
  coordinator.ask(1, wish(1, 10));
  coordinator.ask(2, wish(1, 12));
  Decision decision;
  ASSERT_TRUE(coordinator.next(decision));
  EXPECT_EQ(decision.kind, Decision::kRefuse);
  EXPECT_EQ(decision.reason,
            "key key1: rank 0 gave 10 of float32, rank 2 gave 12 of float32; expected the same");
}

Wish list(uint64_t id) {
  Wish made = wish(id);
  made.list = 1;
  return made;
}

TEST(Coordinator, ListsThatAllRanksGiveRunAsOne) {
  Coordinator coordinator(2);
  coordinator.ask(0, list(1));
  EXPECT_FALSE(coordinator.at_odds()) << "rank 1 may still ask for it";
  coordinator.ask(1, list(1));
  Decision decision;
  ASSERT_TRUE(coordinator.next(decision));
  EXPECT_EQ(decision.ids, Ids{1});
  EXPECT_FALSE(coordinator.at_odds());
}

TEST(Coordinator, RanksThatWaitForDifferentListsAreToldToAskForTheParts) {
  Coordinator coordinator(2);
  coordinator.ask(0, list(1));
  coordinator.ask(1, wish(7));
  ASSERT_TRUE(coordinator.at_odds());
  const Decision split = coordinator.split();
  EXPECT_EQ(split.kind, Decision::kSplit);
  EXPECT_EQ(split.ids, Ids{1});
  coordinator.ask(1, list(1));  // sent before it heard of that
  coordinator.ask(0, wish(7));
  Decision decision;
  ASSERT_TRUE(coordinator.next(decision));
  EXPECT_EQ(decision.ids, Ids{7});
  EXPECT_FALSE(coordinator.next(decision));
  EXPECT_FALSE(coordinator.lacks(0) || coordinator.lacks(1));
  EXPECT_FALSE(coordinator.at_odds());
}

TEST(Coordinator, RanksThatWaitForSingleOnesAreNotAtOdds) {
  Coordinator coordinator(2);
  coordinator.ask(0, wish(1));
  coordinator.ask(1, wish(2));
  EXPECT_FALSE(coordinator.at_odds());
}

TEST(Coordinator, AFastRankMayAskForTheNextRound) {
  Coordinator coordinator(2);
  coordinator.ask(0, wish(1));
  coordinator.ask(0, wish(1));
  coordinator.ask(1, wish(1));
  Decision decision;
  ASSERT_TRUE(coordinator.next(decision));
  EXPECT_FALSE(coordinator.next(decision)) << "the second round waits for rank 1";
  coordinator.ask(1, wish(1));
  EXPECT_TRUE(coordinator.next(decision));
}

}  // namespace
}  // namespace mxnet::mpi
