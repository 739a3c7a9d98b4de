// SPDX-License-Identifier: Apache-2.0
// What a prepared kernel keeps of its weights: packed once for all threads, again after a change,
// and never taken away from a run that still reads it.
#include "op/fused/packed_weight.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <memory>
#include <thread>
#include <vector>

#include "ndarray/made_of_values.h"

namespace mxnet {
namespace {

constexpr int kThreads = 4;
constexpr std::size_t kFloats = 64;

// For calls of kernels that find what others have made of their weight.
class BesideWeight final : public KernelResources {
 public:
  explicit BesideWeight(const uint64_t& version) : version_(version) {}
  void* workspace(std::size_t) override { return nullptr; }
  Tensor make_out(int, const Shape&) override { return {}; }
  MadeOfValues* made_of(int, uint64_t* version) override {
    *version = version_;
    return &made_;
  }

 private:
  const uint64_t& version_;
  MadeOfValues made_;
};

// An array of weights, and the call of a kernel that reads it.
class Caller {
 public:
  Caller(WeightKeeper& keeper, float value) : keeper_(&keeper) { set(value); }

  // Calls go through this one from now on.
  void use(WeightKeeper& keeper) { keeper_ = &keeper; }

  void set(float value) {
    weights_.fill(value);
    ++origin_.version;
  }
  void computed_in_each_run() { origin_.array = nullptr; }

  std::shared_ptr<const PackedWeight> get() { return get_by(*keeper_); }
  std::shared_ptr<const PackedWeight> get_by(WeightKeeper& keeper) {
    const Tensor tensor{weights_.data(), &shape_, DType::kFloat32};
    const KernelContext context({&tensor, 1}, {}, Device::cpu(), nullptr, false, resources_);
    return keeper.get(context, {&origin_, 1}, 0, [&] { return pack(); });
  }
  int packed() const { return packed_; }
  // All numbers of `weight` are those of this caller.
  bool owns(const PackedWeight& weight) const {
    bool equal = true;
    for (std::size_t i = 0; i < kFloats; ++i) equal &= weight.weight.floats()[i] == weights_[i];
    return equal;
  }

 private:
  std::shared_ptr<const PackedWeight> pack() {
    ++packed_;
    auto packed = std::make_shared<PackedWeight>(sizeof weights_, 0);
    std::copy(weights_.begin(), weights_.end(), packed->weight.floats());
    return packed;
  }

  WeightKeeper* keeper_;
  const Shape shape_{static_cast<int64_t>(kFloats)};
  std::array<float, kFloats> weights_;
  InputOrigin origin_{.array = weights_.data()};
  std::atomic<int> packed_ = 0;
  BesideWeight resources_{origin_.version};
};

template <class F>
void in_threads(const F& fn) {
  std::barrier start(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      fn(t);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(WeightKeeper, ThreadsThatNeedTheSameWeightsPackThemOnce) {
  WeightKeeper keeper;
  Caller caller(keeper, 1);
  std::array<std::shared_ptr<const PackedWeight>, kThreads> got;
  in_threads([&](int t) { got[static_cast<std::size_t>(t)] = caller.get(); });
  EXPECT_EQ(caller.packed(), 1);
  for (const auto& weight : got) EXPECT_EQ(weight, got[0]);
  EXPECT_TRUE(caller.owns(*got[0]));
}

TEST(WeightKeeper, WeightsArePackedAgainAfterAChange) {
  WeightKeeper keeper;
  Caller caller(keeper, 1);
  const auto before = caller.get();
  caller.set(2);
  EXPECT_FALSE(caller.owns(*before));
  EXPECT_TRUE(caller.owns(*caller.get()));
  EXPECT_EQ(caller.packed(), 2);
}

TEST(WeightKeeper, ValuesComputedInARunAreNotKept) {
  WeightKeeper keeper;
  Caller caller(keeper, 1);
  caller.computed_in_each_run();
  caller.get();
  caller.get();
  EXPECT_EQ(caller.packed(), 2);
}

TEST(WeightKeeper, CallersWithArraysOfTheirOwnGetTheirOwnWhateverTheOthersDo) {
  constexpr int kCalls = 200;
  WeightKeeper keeper;
  std::array<int, kThreads> wrong{};
  in_threads([&](int t) {
    Caller caller(keeper, static_cast<float>(t));
    for (int i = 0; i < kCalls; ++i) {
      if (i % 10 == 9) caller.set(static_cast<float>(t + kThreads * i));
      wrong[static_cast<std::size_t>(t)] += !caller.owns(*caller.get());
    }
  });
  EXPECT_EQ(wrong, (std::array<int, kThreads>{}));
}

// Plans for other shapes of the data.
TEST(WeightKeeper, KeepersThatPackAlikeHoldOneCopy) {
  const PackedForm form = packed_form(PackedBy::kDense, {8, 8}, {1});
  WeightKeeper first(form), second(form), other(packed_form(PackedBy::kDense, {8, 8}, {0}));
  Caller caller(first, 1);
  const auto packed = caller.get();
  caller.use(second);
  EXPECT_EQ(caller.get(), packed);
  EXPECT_EQ(caller.packed(), 1);
  caller.use(other);
  EXPECT_NE(caller.get(), packed);
  EXPECT_EQ(caller.packed(), 2);
}

TEST(WeightKeeper, AfterAChangeTheFirstPacksForAll) {
  const PackedForm form = packed_form(PackedBy::kDense, {8}, {});
  WeightKeeper first(form), second(form);
  Caller caller(first, 1);
  caller.get();
  caller.use(second);
  caller.get();
  caller.set(2);
  const auto now = caller.get();
  EXPECT_TRUE(caller.owns(*now));
  caller.use(first);
  EXPECT_EQ(caller.get(), now);
  EXPECT_EQ(caller.packed(), 2);
}

TEST(WeightKeeper, WhatIsPackedEndsWithTheLastKeeper) {
  const PackedForm form = packed_form(PackedBy::kDense, {8}, {});
  auto first = std::make_unique<WeightKeeper>(form), second = std::make_unique<WeightKeeper>(form);
  Caller caller(*first, 1);
  std::weak_ptr<const PackedWeight> packed = caller.get();
  caller.use(*second);
  caller.get();
  first.reset();
  EXPECT_FALSE(packed.expired());
  second.reset();
  EXPECT_TRUE(packed.expired());
  WeightKeeper third(form);
  caller.use(third);
  EXPECT_TRUE(caller.owns(*caller.get()));
  EXPECT_EQ(caller.packed(), 2);
}

// What shapes that do not come any more wanted of the weight.
TEST(WeightKeeper, AFormGoesWhenSeveralPlansHaveMetTheWeightAndNoneRanWithIt) {
  const PackedForm large = packed_form(PackedBy::kWinograd, {4}, {}),
                   small = packed_form(PackedBy::kWinograd, {2}, {});
  for (const bool runs_between : {false, true}) {
    WeightKeeper first(large), alike(large);
    Caller caller(first, 1);
    std::weak_ptr<const PackedWeight> packed = caller.get();
    caller.use(alike);
    caller.get();
    std::vector<std::unique_ptr<WeightKeeper>> others;
    for (uint64_t i = 0; i <= WeightKeeper::kPlansRemembered; ++i) {
      EXPECT_FALSE(packed.expired()) << i;
      if (runs_between && i == 4) caller.get_by(first);
      others.push_back(std::make_unique<WeightKeeper>(small));
      caller.use(*others.back());
      caller.get();
    }
    EXPECT_EQ(packed.expired(), !runs_between);
    // Whose plan comes again packs for all.
    caller.use(first);
    const auto again = caller.get();
    EXPECT_TRUE(caller.owns(*again));
    caller.use(alike);
    EXPECT_EQ(caller.get(), again);
    EXPECT_EQ(caller.packed(), runs_between ? 2 : 3);
  }
}

TEST(WeightKeeper, ThreadsRunWithAFormThatGoesMeanwhile) {
  constexpr int kRounds = 50;
  const PackedForm large = packed_form(PackedBy::kWinograd, {4}, {}),
                   small = packed_form(PackedBy::kWinograd, {2}, {});
  WeightKeeper keeper(large);
  Caller caller(keeper, 1);
  std::array<int, kThreads> wrong{};
  in_threads([&](int t) {
    for (int i = 0; i < kRounds; ++i) {
      WeightKeeper another(t % 2 == 0 ? large : small);
      WeightKeeper& used = i % 20 == 0 ? keeper : another;
      wrong[static_cast<std::size_t>(t)] += !caller.owns(*caller.get_by(used));
    }
  });
  EXPECT_EQ(wrong, (std::array<int, kThreads>{}));
}

// Their bytes cannot be told to be alike.
TEST(WeightKeeper, WhereNothingIsSaidOfTheFormEachHasItsOwn) {
  EXPECT_TRUE(packed_form(PackedBy::kDense, {}, {1}).empty());
  WeightKeeper first, second;
  Caller caller(first, 1);
  caller.get();
  caller.use(second);
  caller.get();
  EXPECT_EQ(caller.packed(), 2);
}

}  // namespace
}  // namespace mxnet
