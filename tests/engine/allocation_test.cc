// SPDX-License-Identifier: Apache-2.0
// A push allocates nothing in steady state: this program counts every operator new.
#include <optional>

#include "counted_new.h"
#include "fixture.h"

namespace mxnet::engine_test {
namespace {

class EngineAllocation : public EveryEngine {
 protected:
  void SetUp() override {
    if (!kCounts) GTEST_SKIP() << "allocations are not counted under the address sanitizer";
  }
  // Of a number of lots, each of pushes that write `out` and a wait. First the pools are filled
  // with more than any interleaving can need: several lots are held in flight together, by an
  // operation that ends when they are pushed.
  uint64_t allocations_of(Var* out, const std::function<void()>& lot) {
    const Vars writes{out};
    for (int round = 0; round < 5; ++round) {
      std::optional<OnComplete> release;
      if (!naive()) {
        std::promise<OnComplete> started;
        engine->push_async([&](const RunContext&, OnComplete done) { started.set_value(done); },
                           spec({}, writes));
        release = started.get_future().get();
      }
      for (int i = 0; i < 4; ++i) lot();
      engine->flush_bulk();
      if (release) (*release)();
      engine->wait_for_all();
    }
    const uint64_t before = g_allocations;
    for (int i = 0; i < 20; ++i) {
      lot();
      engine->wait_for_all();
    }
    return g_allocations - before;
  }
};
INSTANTIATE_TEST_SUITE_P(All, EngineAllocation,
                         testing::Values(Kind{EngineType::kNaive, 1, false},
                                         Kind{EngineType::kThreaded, 1, false},
                                         Kind{EngineType::kThreadedPerDevice, 1, false},
                                         Kind{EngineType::kThreadedPerDevice, 1, true}),
                         kind_name);

TEST_P(EngineAllocation, NoneForOperationsOfAllSizesInSteadyState) {
  Vars few, many;
  for (int i = 0; i < 100; ++i) many.push_back(variable());
  few.assign(many.begin(), many.begin() + 3);
  Var* out = variable();
  const Vars writes{out};
  std::array<char, 32> closure{};
  const auto lot = [&] {
    for (const Vars* reads : {&few, &many}) {
      for (int priority : {0, 0, 0, 5, -5}) {
        for (int i = 0; i < 20; ++i) {
          OpSpec s = spec(*reads, writes);
          s.cheap = GetParam().cheap;
          s.priority = priority;
          engine->push([this, closure](const RunContext&) { static_cast<void>(closure[0]); }, s);
        }
      }
    }
  };
  EXPECT_EQ(allocations_of(out, lot), 0u);
}

TEST_P(EngineAllocation, NoneForVariablesDeletionsAndBulksInSteadyState) {
  Var* out = variable();
  const Vars writes{out};
  const auto lot = [&] {
    for (int i = 0; i < 20; ++i) {
      Var* temporary = engine->new_variable();
      const std::array<Var*, 1> reads{temporary};
      OpSpec s;
      s.reads = reads;
      s.writes = writes;
      s.cheap = GetParam().cheap;
      engine->push([](const RunContext&) {}, s);
      engine->delete_variable(temporary, {});
    }
  };
  EXPECT_EQ(allocations_of(out, lot), 0u);
  engine->set_bulk_size(10);
  EXPECT_EQ(allocations_of(out, lot), 0u);
  engine->set_bulk_size(0);
}

}  // namespace
}  // namespace mxnet::engine_test
