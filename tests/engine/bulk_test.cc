// SPDX-License-Identifier: Apache-2.0
// Merged pushes: when they run, in what order, and what a failure in the middle fails.
#include "fixture.h"

#include <atomic>
#include <thread>

#include "base/error.h"

namespace mxnet::engine_test {
namespace {

class EngineBulk : public EveryEngine {};
INSTANTIATE_TEST_SUITE_P(All, EngineBulk, testing::ValuesIn(all_kinds()), kind_name);

TEST_P(EngineBulk, HoldsPushesBackUntilTheSizeIsReached) {
  EXPECT_EQ(engine->set_bulk_size(3), 0);
  EXPECT_EQ(engine->bulk_size(), 3);
  Var* var = variable();
  std::atomic<int> count{0};
  push([&](const RunContext&) { ++count; }, {}, {var});
  push([&](const RunContext&) { ++count; }, {}, {var});
  engine->quiesce();  // drains what was pushed; its flush includes our bulk
  engine->resume(false);
  EXPECT_EQ(count, 2);
  for (int i = 0; i < 3; ++i) push([&](const RunContext&) { ++count; }, {}, {var});
  EXPECT_EQ(engine->set_bulk_size(0), 3);
  engine->wait_for_all();
  EXPECT_EQ(count, 5);
  EXPECT_EQ(engine->version(var), 5u);
}

TEST_P(EngineBulk, NothingRunsBeforeTheBulkIsFullOrFlushed) {
  engine->set_bulk_size(100);
  std::atomic<int> count{0};
  Var *a = variable(), *b = variable();
  for (int i = 0; i < 5; ++i) push([&](const RunContext&) { ++count; }, {a}, {b});
  EXPECT_EQ(count, 0);
  engine->flush_bulk();
  engine->wait_for_var(b);
  EXPECT_EQ(count, 5);
  engine->set_bulk_size(0);
}

TEST_P(EngineBulk, AWaitEndsTheBulk) {
  engine->set_bulk_size(100);
  Var* var = variable();
  int value = 0;
  push([&](const RunContext&) { value = 7; }, {}, {var});
  engine->wait_for_var(var);
  EXPECT_EQ(value, 7);
  engine->set_bulk_size(0);
}

TEST_P(EngineBulk, AFailureFailsWhatDependsOnItAndNothingElse) {
  engine->set_bulk_size(100);
  Var *a = variable(), *b = variable(), *c = variable(), *d = variable();
  bool dependent = false;
  int before = 0, after = 0;
  push([&](const RunContext&) { before = 1; }, {}, {a}, "before");
  push([&](const RunContext&) { throw Error(ErrorCode::kValue, "inside"); }, {a}, {b}, "culprit");
  push([&](const RunContext&) { dependent = true; }, {b}, {c}, "dependent");
  push([&](const RunContext&) { after = 1; }, {a}, {d}, "after");
  engine->set_bulk_size(0);
  engine->wait_for_var(a);
  engine->wait_for_var(d);
  EXPECT_EQ(before + after, 2);
  EXPECT_FALSE(dependent);
  EXPECT_NE(thrown_by([&] { engine->wait_for_var(c); }).find("[culprit] inside"),
            std::string::npos);
  EXPECT_NE(thrown_by([&] { engine->wait_for_var(b); }).find("[culprit] inside"),
            std::string::npos);
}

TEST_P(EngineBulk, ADeletionInTheMiddleKeepsItsPlace) {
  engine->set_bulk_size(100);
  std::vector<int> order;
  Var* kept = variable();
  Var* gone = engine->new_variable();
  push([&](const RunContext&) { order.push_back(1); }, {}, {gone});
  push([&](const RunContext&) { order.push_back(2); }, {gone}, {kept});
  engine->delete_variable(gone, {}, [&](const RunContext&) { order.push_back(3); });
  push([&](const RunContext&) { order.push_back(4); }, {}, {kept});
  engine->set_bulk_size(0);
  engine->wait_for_all();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4}));
}

TEST_P(EngineBulk, AsynchronousAndPrioritisedPushesKeepTheirPlaceInTheOrder) {
  engine->set_bulk_size(100);
  Var* var = variable();
  std::vector<int> order;
  const Vars writes{var};
  push([&](const RunContext&) { order.push_back(1); }, {}, {var});
  engine->push_async(
      [&](const RunContext&, OnComplete done) {
        order.push_back(2);
        done();
      },
      spec({}, writes));
  push([&](const RunContext&) { order.push_back(3); }, {}, {var});
  OpSpec s = spec({}, writes);
  s.priority = 5;
  engine->push([&](const RunContext&) { order.push_back(4); }, s);
  push([&](const RunContext&) { order.push_back(5); }, {}, {var});
  engine->set_bulk_size(0);
  engine->wait_for_all();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4, 5}));
}

TEST_P(EngineBulk, TheSizeBelongsToOneThreadAndItsEndFlushes) {
  engine->set_bulk_size(10);
  std::atomic<int> count{0};
  Var* var = variable();
  std::thread([&] {
    EXPECT_EQ(engine->bulk_size(), 0);
    engine->set_bulk_size(50);
    push([&](const RunContext&) { ++count; }, {}, {var});
  }).join();
  engine->wait_for_var(var);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(engine->bulk_size(), 10);
  engine->set_bulk_size(0);
}

TEST_P(EngineBulk, DuplicatesAreRefusedAtThePush) {
  engine->set_bulk_size(10);
  Var* var = variable();
  EXPECT_THROW(push([](const RunContext&) {}, {var}, {var}, "twin"), Error);
  engine->set_bulk_size(0);
}

}  // namespace
}  // namespace mxnet::engine_test
