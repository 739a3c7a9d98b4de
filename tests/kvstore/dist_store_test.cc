// SPDX-License-Identifier: Apache-2.0
// Distributed stores without a network.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/interrupt.h"
#include "kvstore/jobs.h"
#include "ndarray/sparse_store.h"

namespace mxnet::kvstore {
namespace {

using namespace testing_kvstore;  // NOLINT(google-build-using-namespace)
using Some = std::vector<Key>;
using Arrays = std::vector<NDArray>;

TEST(DistStore, AllRanksStartWithTheValuesOfRankZero) {
  Job job(3);
  job.init("a", {filled({2}, 5), filled({2}, 6), filled({2}, 7)});
  for (auto& store : job.stores) EXPECT_EQ(pulled(*store, "a", {2})[0], 5);
  EXPECT_EQ(job.stores[2]->rank(), 2);
  EXPECT_EQ(job.stores[2]->group_size(), 3);
}

TEST(DistStore, PushSumsOverDevicesAndRanks) {
  Job job(2);
  job.init("a", {filled({2}, 0), filled({2}, 0)});
  push(*job.stores[0], "a", {filled({2}, 1), filled({2}, 2)});
  push(*job.stores[1], "a", {filled({2}, 10, Device::gpu(0)), filled({2}, 20, Device::gpu(1))});
  for (auto& store : job.stores) EXPECT_EQ(pulled(*store, "a", {2})[0], 33);
}

// Alone, in lists, as rows: what one rank gives a key of its first store never meets what another
// gives the same key of its second.
TEST(DistStore, KeysOfTwoStoresHaveNothingToDoWithEachOther) {
  Job first(2);
  struct Second {
    DistStore left, right;
  } second{{parse_store_type("dist_sync"), first.config, *first.members[0]},
           {parse_store_type("dist_sync"), first.config, *first.members[1]}};
  const Some keys{1, 2};
  const Shape rows{4, 1};
  const auto init = [&](DistStore& store) {
    store.init(keys, Arrays{filled({2}, 0), filled({3}, 0)});
    store.init(same_key(9, 1), Arrays{make_row_sparse(rows, {1}, {0})});
  };
  const auto push_all = [&](DistStore& store, float value) {
    push(store, 1, {filled({2}, value)});
    store.push(keys, Arrays{filled({2}, value), filled({3}, value)}, 0);
    push(store, 9, {make_row_sparse(rows, {value}, {2})});
  };
  const auto expect = [&](DistStore& store, float sum) {
    EXPECT_EQ(pulled(store, 1, {2}), std::vector<float>(2, sum));
    EXPECT_EQ(pulled(store, 2, {3}), std::vector<float>(3, sum));
    const NDArray out(StorageType::kRowSparse, rows, DType::kFloat32, Device::cpu());
    const NDArray ids = make(Shape{1}, std::vector<float>{2});
    store.pull_rows(same_key(9, 1), std::span(&out, 1), std::span(&ids, 1), 0);
    out.wait_to_read();
    EXPECT_EQ(*static_cast<const float*>(out.sparse().values()), sum);
  };
  for (DistStore* store :
       {first.stores[0].get(), first.stores[1].get(), &second.left, &second.right})
    init(*store);
  push_all(*first.stores[0], 1);
  push_all(second.right, 20);  // the other store is first here
  push_all(*first.stores[1], 2);
  push_all(second.left, 10);
  for (const auto& store : first.stores) expect(*store, 3);
  for (DistStore* store : {&second.left, &second.right}) expect(*store, 30);
}

TEST(DistStore, UpdatersSeeTheSumOfAllRanksOnEachOfThem) {
  Job job(2, "dist_device_sync");
  job.init("a", {filled({2}, 100), filled({2}, 0)});
  for (auto& store : job.stores) {
    store->set_updater([](const Key&, const NDArray& pushed, const NDArray& stored) {
      // Reads when the operation runs: the sum of the ranks is not there yet.
      const std::array<Var*, 1> reads{pushed.var()}, writes{stored.var()};
      Engine::get().push(
          [=](const RunContext&) { stored.data_as<float>()[0] -= pushed.data_as<float>()[0]; },
          {.device = Device::cpu(), .reads = reads, .writes = writes, .name = "Update"});
    });
  }
  push(*job.stores[0], "a", {filled({2}, 1)});
  push(*job.stores[1], "a", {filled({2}, 10)});
  for (auto& store : job.stores) EXPECT_EQ(pulled(*store, "a", {2})[0], 89);
}

TEST(DistStore, PushPullWorksInPlace) {
  Job job(2);
  job.init(3, {filled({2}, 0), filled({2}, 0)});
  const Arrays a{filled({2}, 1)}, b{filled({2}, 2)};
  job.stores[0]->push_pull(Some{3}, a, Some{3}, a, 0);
  job.stores[1]->push_pull(Some{3}, b, Some{3}, b, 0);
  EXPECT_EQ(floats(a[0])[0], 3);
  EXPECT_EQ(floats(b[0])[0], 3);
}

// Three keys in one call, the second too big to travel with others.
struct Three {
  std::vector<Key> keys{"a", "big", "c"};
  std::vector<Shape> shapes{{2}, {100000}, {3, 1}};
  Arrays filled_with(float value) const {
    Arrays arrays;
    for (const Shape& shape : shapes) arrays.push_back(filled(shape, value));
    return arrays;
  }
};

TEST(DistStore, SmallKeysOfACallTravelAsOne) {
  Job job(2);
  const Three three;
  for (int r = 0; r < 2; ++r) job.stores[r]->init(three.keys, three.filled_with(7.0f + r));
  for (auto& store : job.stores) EXPECT_EQ(pulled(*store, "c", {3, 1})[2], 7);
  Engine::get().wait_for_all();
  const std::size_t before = job.meeting.seen().size();
  const Arrays mine = three.filled_with(1), other = three.filled_with(2);
  job.stores[0]->push_pull(three.keys, mine, three.keys, mine, 0);
  job.stores[1]->push_pull(three.keys, other, three.keys, other, 0);
  for (const Arrays& arrays : {mine, other})
    for (const NDArray& array : arrays)
      EXPECT_EQ(floats(array), std::vector<float>(static_cast<std::size_t>(array.size()), 3));
  EXPECT_EQ(pulled(*job.stores[1], "a", {2})[1], 3) << "stored as well";
  const std::vector<Meeting::Seen> seen = job.meeting.seen();
  EXPECT_EQ(seen.size() - before, 4U) << "two of each rank";
  EXPECT_TRUE(std::any_of(seen.begin(), seen.end(), [](const Meeting::Seen& request) {
    return request.name == "'a' and 1 more" && request.count == 5;
  }));
}

TEST(DistStore, UpdatersSeeEachOfTheKeysThatTravelTogether) {
  Job job(1);
  const Three three;
  job.stores[0]->init(three.keys, three.filled_with(10));
  std::vector<Key> updated;
  job.stores[0]->set_updater([&](const Key& key, const NDArray& pushed, const NDArray& stored) {
    updated.push_back(key);
    pushed.copy_to(stored);
  });
  const Arrays values = three.filled_with(4), outs = three.filled_with(0);
  std::vector<Key> twice{"a", "a", "big", "c"};
  job.stores[0]->push_pull(twice, Arrays{values[0], values[0], values[1], values[2]}, three.keys,
                           outs, 0);
  EXPECT_EQ(updated, (std::vector<Key>{"big", "a", "c"}));
  EXPECT_EQ(floats(outs[0])[0], 8);
  EXPECT_EQ(floats(outs[1])[0], 4);
  EXPECT_EQ(floats(outs[2])[0], 4);
}

TEST(DistStore, AKeyReadsNothingThatAnEarlierOneOfTheCallWrites) {
  Job job(1);
  job.stores[0]->init(Some{1, 2}, Arrays{filled({2}, 0), filled({2}, 0)});
  const NDArray between = filled({2}, 5), out = filled({2}, 0);
  job.stores[0]->push_pull(Some{1, 2}, Arrays{filled({2}, 3), between}, Some{1, 2},
                           Arrays{between, out}, 0);
  EXPECT_EQ(floats(between)[0], 3);
  EXPECT_EQ(floats(out)[0], 5);
}

TEST(DistStore, AFailureIsNotForgottenByAListInPlace) {
  Job job(1);
  job.stores[0]->init(Some{1, 2}, Arrays{filled({2}, 0), filled({2}, 0)});
  const Arrays values{filled({2}, 3), broken_array({2})};
  job.stores[0]->push_pull(Some{1, 2}, values, Some{1, 2}, values, 0);
  EXPECT_NE(error_of([&] { values[1].wait_to_read(); }).find("gone wrong"), std::string::npos);
}

TEST(DistStore, KeysBeforeOneThatIsRefusedStillTravel) {
  Job job(1);
  job.stores[0]->init(Some{1, 2}, Arrays{filled({2}, 0), filled({2}, 0)});
  EXPECT_NE(error_of([&] {
              job.stores[0]->push(Some{1, 2}, Arrays{filled({2}, 6), filled({3}, 6)}, 0);
            }).find("key 2"),
            std::string::npos);
  EXPECT_EQ(pulled(*job.stores[0], 1, {2})[0], 6);
}

TEST(DistStore, RowsAreSummed) {
  Job job(2);
  const Shape shape{4, 1};
  job.init("e", {make_row_sparse(shape, {1}, {0}), make_row_sparse(shape, {9}, {3})});
  push(*job.stores[0], "e", {make_row_sparse(shape, {1, 2}, {0, 1})});
  push(*job.stores[1], "e", {make_row_sparse(shape, {3}, {1})});
  for (auto& store : job.stores)
    EXPECT_EQ(pulled(*store, "e", shape), (std::vector<float>{1, 5, 0, 0}));
}

TEST(DistStore, OnlyRowsTravel) {
  Job job(2);
  const Shape shape{1000, 2};
  const NDArray empty = make_row_sparse(shape, {}, {});
  job.init("e", {empty, empty});
  Engine::get().wait_for_all();
  const std::size_t before = job.meeting.seen().size();
  push(*job.stores[0], "e", {make_row_sparse(shape, {1, 2, 3, 4}, {7, 500})});
  push(*job.stores[1], "e", {make_row_sparse(shape, {-3, -4}, {500})});
  for (auto& store : job.stores) {
    const std::vector<float> sum = pulled(*store, "e", shape);
    EXPECT_EQ(sum[14], 1);
    EXPECT_EQ(sum[1001], 0);
    EXPECT_EQ(std::count(sum.begin(), sum.end(), 0), 1998);
  }
  int64_t words = 0;
  const std::vector<Meeting::Seen> seen = job.meeting.seen();
  for (std::size_t i = before; i < seen.size(); ++i) words += seen[i].count;
  EXPECT_EQ(words, 2 * (1 + 5)) << "of each rank a size, then a number, two places, two rows";
}

TEST(DistStore, RowsOnTheirWayAreLoggedOnDemand) {
  const auto logged = [](bool verbose) {
    Job job(1);
    job.config.dist_row_sparse_verbose = verbose;
    const Shape shape{4, 1};
    job.init("e", {make_row_sparse(shape, {1}, {0})});
    testing::internal::CaptureStderr();
    push(*job.stores[0], "e", {make_row_sparse(shape, {1}, {0})});
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_NE(logged(true).find("rows of key 'e', shape (4,1)"), std::string::npos);
  EXPECT_EQ(logged(false).find("rows of key"), std::string::npos);
}

TEST(DistStore, P3SendsSlicesOfTheConfiguredSize) {
  const auto counts = [](const char* type) {
    Job job(1, type);
    job.config.slice_threshold = 40;
    job.init("a", {filled({100}, 1)});
    push(*job.stores[0], "a", {filled({100}, 2)}, -7);
    EXPECT_EQ(pulled(*job.stores[0], "a", {100}), std::vector<float>(100, 2));
    std::vector<int64_t> result;
    for (const Meeting::Seen& seen : job.meeting.seen())
      if (seen.priority == -7) result.push_back(seen.count);
    return result;
  };
  EXPECT_EQ(counts("dist_sync_p3"), (std::vector<int64_t>{40, 40, 20}));
  EXPECT_EQ(counts("dist_sync"), (std::vector<int64_t>{100}));
}

TEST(DistStore, CompressedSumsAreThoseOfWhatEachRankSent) {
  Job job(3);
  const std::vector<std::pair<std::string_view, std::string_view>> params{{"type", "2bit"},
                                                                          {"threshold", "0.5"}};
  for (auto& store : job.stores) store->set_compression(params);
  const Shape shape{40};  // more than two words
  job.init("a", {filled(shape, 0), filled(shape, 0), filled(shape, 0)});
  const float given[] = {0.75f, 0.25f, -1};
  for (const float expected : {0.0f, 0.5f}) {  // 0.5 + 0 - 0.5, then with the rests 0.5 + 0.5 - 0.5
    for (std::size_t r = 0; r < 3; ++r) push(*job.stores[r], "a", {filled(shape, given[r])});
    for (auto& store : job.stores)
      EXPECT_EQ(pulled(*store, "a", shape), std::vector<float>(40, expected));
  }
}

TEST(DistStore, RanksThatCompressDifferentlyGetTheSameSumAndKeepWhatIsLeft) {
  using Params = std::vector<std::pair<std::string_view, std::string_view>>;
  Job job(2);
  const Shape shape{10};  // one word by any compression
  job.init("a", {filled(shape, 0), filled(shape, 0)});
  job.stores[0]->set_compression(Params{{"type", "2bit"}, {"threshold", "0.5"}});
  job.stores[1]->set_compression(Params{{"type", "2bit"}, {"threshold", "2"}});
  const auto both = [&](float first, float second) {
    push(*job.stores[0], "a", {filled(shape, first)});
    push(*job.stores[1], "a", {filled(shape, second)});
    const std::vector<float> sum = pulled(*job.stores[0], "a", shape);
    EXPECT_EQ(sum, pulled(*job.stores[1], "a", shape));
    return sum[9];
  };
  EXPECT_EQ(both(0.75f, 3), 2.5f);
  job.stores[0]->set_compression(Params{{"type", "2bit"}, {"threshold", "0.25"}});
  job.stores[1]->set_compression(Params{{"type", "1bit"}, {"threshold", "0.5"}});
  EXPECT_EQ(both(0, 0), 1.25f) << "0.25 and 1 were left";
}

TEST(DistStore, AFailureOfTheGroupIsThrownByAWait) {
  Job job(1);
  job.init("a", {filled({2}, 0)});
  pulled(*job.stores[0], "a", {2});
  job.meeting.failure = std::make_exception_ptr(Error(ErrorCode::kGeneric, "rank 1 is lost"));
  push(*job.stores[0], "a", {filled({2}, 1)});
  EXPECT_NE(error_of([&] { pulled(*job.stores[0], "a", {2}); }).find("rank 1 is lost"),
            std::string::npos);
  EXPECT_NE(error_of([&] { job.stores[0]->barrier(); }).find("rank 1 is lost"), std::string::npos);
}

TEST(DistStore, ABarrierWhoseWaitTheProgramEndsHasBeenReached) {
  Job job(2);
  engine::set_interrupt_check([] { return 1; });
  EXPECT_THROW(job.stores[0]->barrier(), Error);
  engine::set_interrupt_check(nullptr);
  job.stores[1]->barrier();  // the other one is there already
}

TEST(DistStore, WhatItLacksIsAnErrorThatSaysSo) {
  Job job(1);
  EXPECT_NE(error_of([&] { job.stores[0]->serve(); }).find("-s 1"), std::string::npos);
  EXPECT_NE(error_of([] { Job asynchronous(1, "dist_async"); }).find("-s 1"), std::string::npos);
}

}  // namespace
}  // namespace mxnet::kvstore
