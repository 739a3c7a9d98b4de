// SPDX-License-Identifier: Apache-2.0
// Plans that calls on several threads share.
#include "plugin/cuda/dnn/plan_table.h"

#include <gtest/gtest.h>

#include <barrier>
#include <thread>

#include "plugin/cuda/dnn/convolution_key.h"

namespace mxnet::cuda {
namespace {

constexpr int kThreads = 4, kCalls = 2000;

// As cuDNN's: while it is used it holds what the call has given it.
struct Plan {
  explicit Plan(int64_t number) : number_(number) {}
  bool run(int64_t given) const {
    given_ = given;
    std::this_thread::yield();
    return given_ == given;
  }
  int64_t number_;
  mutable int64_t given_ = 0;
};
using Shared = std::shared_ptr<const InTurns<Plan>>;

Shared made(int64_t number) { return std::make_shared<const InTurns<Plan>>(number); }
int64_t number_of(const Shared& plan) {
  return plan->use([](const Plan& of) { return of.number_; });
}

template <class F>
void on_all_threads(const F& fn) {
  std::barrier together(kThreads);
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      together.arrive_and_wait();
      fn(t);
    });
}

TEST(PlanTable, APlanIsMadeOnceForItsNumbers) {
  PlanTable<Shared> table(8);
  std::atomic<int> makes{0};
  on_all_threads([&](int) {
    for (int64_t key = 0; key < 3; ++key) {
      const Shared plan = table.get({key, 7}, [&] {
        ++makes;
        return made(key);
      });
      EXPECT_EQ(number_of(plan), key);
    }
  });
  EXPECT_EQ(makes, 3);
}

TEST(PlanTable, APlanIsUsedByOneCallAtATime) {
  const Shared plan = made(1);
  std::atomic<int> disturbed{0};
  on_all_threads([&](int thread) {
    for (int call = 0; call < kCalls; ++call)
      if (!plan->use([&](const Plan& own) { return own.run(thread * kCalls + call); })) ++disturbed;
  });
  EXPECT_EQ(disturbed, 0);
}

TEST(PlanTable, OnesThatCannotBeMadeAreAskedForAgain) {
  PlanTable<Shared> table(8);
  EXPECT_THROW(table.get({1}, []() -> Shared { throw std::runtime_error("no memory"); }),
               std::runtime_error);
  EXPECT_EQ(number_of(table.get({1}, [] { return made(5); })), 5);
}

// Whoever has a plan keeps it.
TEST(PlanTable, AFullTableBeginsAnew) {
  PlanTable<Shared> table(2);
  const Shared first = table.get({1}, [] { return made(1); });
  table.get({2}, [] { return made(2); });
  table.get({3}, [] { return made(3); });
  EXPECT_EQ(number_of(first), 1);
  EXPECT_FALSE(table.find({1}));
  EXPECT_TRUE(table.find({3}));
  EXPECT_EQ(number_of(table.get({1}, [] { return made(10); })), 10);
  EXPECT_EQ(number_of(table.get({3}, [] { return made(30); })), 3);
}

// A thread that records a graph may make no plan, so that one look has to be enough: it has the
// plan, or knows that there is none, while others make the table begin anew all the time.
TEST(PlanTable, WhatIsFoundIsThereWhateverTheTableForgets) {
  PlanTable<Shared> table(1);
  std::atomic<int> wrong{0};
  on_all_threads([&](int thread) {
    for (int64_t call = 0; call < kCalls; ++call) {
      const int64_t key = (thread + call) % 3;
      if (thread % 2 == 0) {
        table.get({key}, [&] { return made(key); });
      } else if (const auto plan = table.find({key}); plan && number_of(*plan) != key) {
        ++wrong;
      }
    }
  });
  EXPECT_EQ(wrong, 0);
  const Shared last = table.get({7}, [] { return made(7); });
  const auto kept = table.find({7});
  table.get({8}, [] { return made(8); });
  EXPECT_FALSE(table.find({7}));
  ASSERT_TRUE(kept);
  EXPECT_EQ(*kept, last);
}

// --- what a convolution's plan is kept under
// -----------------------------------------------------------

Convolution example() {
  Convolution convolution;
  convolution.data = {8, 64, 56, 56};
  convolution.weight = {128, 64, 3, 3};
  convolution.output = {8, 128, 28, 28};
  convolution.pad = {1, 1};
  convolution.stride = {2, 2};
  convolution.dilate = {1, 1};
  return convolution;
}
PlanKey key_of(const Convolution& convolution, const EnginePolicy& policy) {
  PlanKey key{1, 2, 3};  // of the call before
  set_plan_key(convolution, policy, &key);
  return key;
}

TEST(ConvolutionKey, HoldsAllThatAPlanDependsOn) {
  std::vector<PlanKey> keys{key_of(example(), {})};
  const auto with = [&](const auto& change) {
    Convolution convolution = example();
    EnginePolicy policy;
    change(convolution, policy);
    keys.push_back(key_of(convolution, policy));
  };
  with([](Convolution& c, EnginePolicy&) { c.pass = ConvPass::kWeightGradient; });
  with([](Convolution& c, EnginePolicy&) { c.dtype = DType::kFloat16; });
  with([](Convolution& c, EnginePolicy&) { c.channels_last = true; });
  with([](Convolution& c, EnginePolicy&) { c.data[0] = 9; });
  with([](Convolution& c, EnginePolicy&) { c.weight[0] = 9; });
  with([](Convolution& c, EnginePolicy&) { c.output[0] = 9; });
  with([](Convolution& c, EnginePolicy&) { c.pad[1] = 0; });
  with([](Convolution& c, EnginePolicy&) { c.stride[1] = 1; });
  with([](Convolution& c, EnginePolicy&) { c.dilate[1] = 2; });
  with([](Convolution& c, EnginePolicy&) { c.groups = 2; });
  with([](Convolution& c, EnginePolicy&) { c.bias = true; });
  with([](Convolution& c, EnginePolicy&) { c.sum = true; });
  with([](Convolution& c, EnginePolicy&) { c.activation = {PostOp::Kind::kRelu}; });
  with([](Convolution& c, EnginePolicy&) { c.activation = {PostOp::Kind::kTanh}; });
  with([](Convolution& c, EnginePolicy&) { c.activation = {PostOp::Kind::kRelu, 0.1f}; });
  with([](Convolution& c, EnginePolicy&) { c.activation = {PostOp::Kind::kClip, 0, 6}; });
  with([](Convolution&, EnginePolicy& p) { p.tensor_core = false; });
  with([](Convolution&, EnginePolicy& p) { p.down_conversion = true; });
  with([](Convolution&, EnginePolicy& p) { p.reduced_precision_reduction = false; });
  with([](Convolution&, EnginePolicy& p) { p.fft = false; });
  with([](Convolution&, EnginePolicy& p) { p.winograd = false; });
  with([](Convolution&, EnginePolicy& p) { p.deterministic = true; });
  with([](Convolution&, EnginePolicy& p) { p.disabled = {4}; });
  with([](Convolution&, EnginePolicy& p) { p.autotune = Autotune::kHeuristics; });
  with([](Convolution&, EnginePolicy& p) { p.workspace_limit = 1; });
  with([](Convolution&, EnginePolicy& p) { p.verbose = 1; });
  for (std::size_t i = 0; i < keys.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) EXPECT_NE(keys[i], keys[k]) << i << " and " << k;
  EXPECT_EQ(key_of(example(), {}), keys[0]);
}

}  // namespace
}  // namespace mxnet::cuda
