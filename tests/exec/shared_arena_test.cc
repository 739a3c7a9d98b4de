// SPDX-License-Identifier: Apache-2.0
// Executors whose activations share memory, as the buckets of one model do: what they keep of it,
// and whose run it belongs to.
#include <gtest/gtest.h>

#include <future>
#include <memory>

#include "base/error.h"
#include "engine/interrupt.h"
#include "exec/plan_fixture.h"

namespace mxnet {
namespace {

constexpr unsigned kSeed = 29;

// Executors of one network for data of so many rows, whose parameters and activations are shared.
class SharedArena : public testing::Test {
 protected:
  static constexpr int kRows = 1 << 12, kWidth = 64;
  static constexpr std::size_t kRow = kWidth * sizeof(float), kLayer = kRows * kRow;

  std::unique_ptr<Executor> bind(int rows, Request request = Request::kNull) {
    std::vector<NDArray> arrays = arrays_;
    arrays[0] = arrays[0].slice(0, rows);
    return std::make_unique<Executor>(mlp_.graph, Device::cpu(), bind_arrays(arrays, request),
                                      pool_);
  }
  Values results_of(Executor& executor) {
    executor.forward(false);
    return values_of(executor.outputs()[0]);
  }
  static std::size_t in_use() {
    Engine::get().wait_for_all();
    return Storage::get().stats(Device::cpu()).in_use;
  }

  Mlp mlp_{4, kRows, kWidth, kSeed};
  std::vector<NDArray> arrays_ = mlp_.arrays();
  const Ref<Arena> pool_ = make_ref<Arena>(Device::cpu());
};

TEST_F(SharedArena, GrowingExecutorsLeaveNothingSmallerBehind) {
  std::vector<std::unique_ptr<Executor>> executors;
  const std::size_t before = in_use();
  std::size_t outputs = 0;
  for (int i = 1; i <= 8; ++i) {
    executors.push_back(bind(i * kRows / 8));
    executors.back()->forward(false);
    outputs += executors.back()->outputs()[0].bytes();
  }
  EXPECT_GE(pool_->bytes(), kLayer);
  EXPECT_LT(in_use() - before, outputs + pool_->bytes() + kLayer / 8);
}

TEST_F(SharedArena, AnExecutorThatHasMovedComputesTheSame) {
  const auto small = bind(kRows / 8), large = bind(kRows);
  const Values expected = results_of(*small);
  large->forward(false);
  EXPECT_EQ(results_of(*small), expected);
}

TEST_F(SharedArena, IsAsLargeAsThoseBoundLatelyNeed) {
  std::vector<std::unique_ptr<Executor>> executors;
  const auto meet_small_ones = [&](int count) {
    for (int i = 0; i < count; ++i) {
      executors.push_back(bind(kRows / 8 - static_cast<int>(executors.size())));
      executors.back()->forward(false);
    }
  };
  const auto large = bind(kRows);
  const Values expected = results_of(*large);
  const std::size_t most = pool_->bytes();
  meet_small_ones(6);
  large->forward(false);
  meet_small_ones(6);
  EXPECT_EQ(pool_->bytes(), most) << "it came between";
  meet_small_ones(6);
  EXPECT_LT(pool_->bytes(), most / 4);
  EXPECT_EQ(results_of(*large), expected);
  EXPECT_EQ(pool_->bytes(), most);
}

TEST_F(SharedArena, ActivationsThatBackwardIsToReadStayWhereTheyAre) {
  const auto small = bind(kRows / 8, Request::kWrite), large = bind(kRows);
  const auto gradient = [&] { return values_of(small->arrays().grads[1]); };
  small->forward(true);
  small->backward({});
  const Values expected = gradient();
  small->forward(true);
  const Values of_large = results_of(*large);
  small->backward({});
  EXPECT_EQ(gradient(), expected);
  EXPECT_EQ(results_of(*large), of_large);
  small->forward(true);
  small->backward({});
  EXPECT_EQ(gradient(), expected);
}

TEST_F(SharedArena, ExecutorsMayTakeTurnsWithinTheirRuns) {
  const auto first = bind(kRows / 8, Request::kWrite), second = bind(kRows / 16, Request::kWrite),
             third = bind(kRows / 16);
  const auto gradient = [](Executor& executor) { return values_of(executor.arrays().grads[1]); };
  std::vector<Values> expected;
  for (Executor* executor : {first.get(), second.get()}) {
    executor->forward(true);
    executor->backward({});
    expected.push_back(gradient(*executor));
  }
  for (int turn = 0; turn < 2; ++turn) {
    first->forward(true);
    second->forward(true);
    third->forward(false);
    first->backward({});
    second->backward({});
    EXPECT_EQ(gradient(*first), expected[0]);
    EXPECT_EQ(gradient(*second), expected[1]);
  }
}

TEST_F(SharedArena, ARunStepByStepMayBeInterrupted) {
  const auto stepped = bind(kRows / 8), other = bind(kRows / 8);
  const Values expected = results_of(*stepped);
  for (int step = 0, left = 1; left > 0; ++step) {
    left = stepped->forward_step(step);
    fill_array("zeros_like", other->arrays().args[0]);
    other->forward(false);
  }
  EXPECT_EQ(values_of(stepped->outputs()[0]), expected);
}

TEST_F(SharedArena, WhatIsGivenUpIsNotKept) {
  const auto executor = bind(kRows, Request::kWrite);
  executor->forward(false);
  executor->forward(true);
  const std::size_t before = in_use();
  executor->forward(false);
  EXPECT_EQ(in_use(), before);
}

TEST_F(SharedArena, AWaitThatTheProgramEndsLeavesTheMemoryToThoseWhoAreThere) {
  const auto small = bind(kRows / 8), large = bind(kRows);
  const Values expected = results_of(*small);
  std::promise<void> go_on;
  Var* const writes[] = {pool_->pieces()[0].chunk->var()};
  Engine::get().push([&](const RunContext&) { go_on.get_future().wait(); },
                     {.device = Device::cpu(), .reads = {}, .writes = writes, .name = "Block"});
  small->forward(false);
  engine::set_interrupt_check([] { return 1; });
  EXPECT_THROW(large->forward(false), Error);
  engine::set_interrupt_check(nullptr);
  go_on.set_value();
  EXPECT_EQ(values_of(small->outputs()[0]), expected);
  const Values of_large = results_of(*large);
  EXPECT_EQ(results_of(*small), expected);
  EXPECT_EQ(results_of(*large), of_large);
}

}  // namespace
}  // namespace mxnet
