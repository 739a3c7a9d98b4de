// SPDX-License-Identifier: Apache-2.0
// A thread that waits runs what only computes, if no worker has taken it, and nothing else.
#include <latch>
#include <thread>

#include "engine/ready_queue.h"
#include "fixture.h"

namespace mxnet::engine_test {
namespace {

// An engine whose one worker can be kept busy or asleep at will.
class EngineHelp : public testing::TestWithParam<EngineType> {
 protected:
  EngineHelp() : engine_(make_engine(config_of({GetParam(), 1, false}))) {}
  ~EngineHelp() override {
    for (Var* var : vars_) engine_->delete_variable(var, {});
  }
  Var* variable() { return vars_.emplace_back(engine_->new_variable()); }
  void push(SyncFn fn, const Vars& reads, const Vars& writes, bool computes = true,
            int priority = 0) {
    OpSpec s = spec(reads, writes, "step");
    s.computes = computes;
    s.priority = priority;
    engine_->push(std::move(fn), s);
  }
  // Holds the worker until the result goes; the worker has begun when this returns.
  std::shared_ptr<std::latch> hold_worker(Var* var) {
    auto begun = std::make_shared<std::latch>(1), release = std::make_shared<std::latch>(1);
    push(
        [begun, release](const RunContext&) {
          begun->count_down();
          release->wait();
        },
        {}, {var}, /*computes=*/false);
    begun->wait();
    return release;
  }
  Engine& engine() { return *engine_; }

 private:
  std::unique_ptr<Engine> engine_;
  Vars vars_;
};
INSTANTIATE_TEST_SUITE_P(Workers, EngineHelp,
                         testing::Values(EngineType::kThreaded, EngineType::kThreadedPerDevice),
                         [](const auto& info) {
                           return info.param == EngineType::kThreaded ? "Threaded" : "PerDevice";
                         });

TEST_P(EngineHelp, ChainsEndInOrderWhoeverRunsThem) {
  constexpr int kRounds = 2000, kLength = 20;
  Var* const a = variable();
  Var* const b = variable();
  int here = 0;
  const std::thread::id waiter = std::this_thread::get_id();
  for (int round = 0; round < kRounds; ++round) {
    int value = 0;  // guarded by the variables
    for (int i = 0; i < kLength; ++i) {
      push(
          [&value, &here, waiter, i](const RunContext&) {
            EXPECT_EQ(value, i);
            ++value;
            here += std::this_thread::get_id() == waiter;
          },
          i % 2 == 0 ? Vars{} : Vars{b}, {a});
    }
    round % 2 == 0 ? engine().wait_for_var(a) : engine().wait_to_read(a);
    ASSERT_EQ(value, kLength);
  }
  RecordProperty("operations_of_the_waiter", here);
}

TEST_P(EngineHelp, WhatDoesMoreThanComputeStaysWithTheWorkers) {
  Var* const a = variable();
  const std::thread::id waiter = std::this_thread::get_id();
  for (int round = 0; round < 500; ++round) {
    std::thread::id ran;
    push([&ran](const RunContext&) { ran = std::this_thread::get_id(); }, {}, {a}, false);
    engine().wait_for_var(a);
    ASSERT_NE(ran, waiter);
  }
}

TEST_P(EngineHelp, ABusyWorkerIsNotJoined) {
  Var* const held = variable();
  Var* const a = variable();
  const auto release = hold_worker(held);
  std::thread::id ran;
  push([&ran](const RunContext&) { ran = std::this_thread::get_id(); }, {}, {a});
  std::thread other([&] { engine().wait_for_var(a); });
  const std::thread::id helper = other.get_id();
  release->count_down();
  other.join();
  EXPECT_NE(ran, helper);
  engine().wait_for_all();
}

TEST_P(EngineHelp, AFailureReachesTheWaiterThatRanIt) {
  Var* const a = variable();
  for (int round = 0; round < 500; ++round) {
    push([](const RunContext&) { throw std::runtime_error("broken"); }, {}, {a});
    ASSERT_NE(thrown_by([&] { engine().wait_for_var(a); }).find("broken"), std::string::npos);
    ASSERT_EQ(thrown_by([&] { engine().wait_for_var(a); }), "");
  }
}

TEST_P(EngineHelp, AWaitForAllHelpsAndSeesDescendants) {
  Var* const a = variable();
  Var* const b = variable();
  for (int round = 0; round < 500; ++round) {
    int value = 0;
    push([&](const RunContext&) { push([&](const RunContext&) { value = 1; }, {a}, {b}); }, {},
         {a});
    engine().wait_for_all();
    ASSERT_EQ(value, 1);
  }
}

TEST_P(EngineHelp, ManyWaitersShareTheWork) {
  constexpr int kThreads = 4, kRounds = 500, kLength = 8;
  std::vector<Var*> vars;
  for (int t = 0; t < kThreads; ++t) vars.push_back(variable());
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Var* const var = vars[static_cast<std::size_t>(t)];
      for (int round = 0; round < kRounds; ++round) {
        int value = 0;
        for (int i = 0; i < kLength; ++i)
          push([&value](const RunContext&) { ++value; }, {}, {var}, i % 3 != 0, i % 2);
        engine().wait_for_var(var);
        ASSERT_EQ(value, kLength);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace mxnet::engine_test

namespace mxnet::engine {
namespace {

TEST(ReadyQueue, GivesAHelperOnlyWhatComputesAndIsNext) {
  ReadyQueue queue;
  Operation* const other = Operation::make();
  Operation* const computing = Operation::make();
  Operation* const urgent = Operation::make();
  computing->computes = urgent->computes = true;
  urgent->priority = 1;
  queue.push(computing);
  queue.push(other);
  queue.push(urgent);
  EXPECT_EQ(queue.pop_computing(), nullptr);  // something urgent comes first
  EXPECT_EQ(queue.pop(), urgent);
  EXPECT_EQ(queue.pop_computing(), computing);
  EXPECT_EQ(queue.pop_computing(), nullptr);
  EXPECT_EQ(queue.pop(), other);
  EXPECT_EQ(queue.pop_computing(), nullptr);
  for (Operation* operation : {other, computing, urgent}) operation->recycle();
}

}  // namespace
}  // namespace mxnet::engine
