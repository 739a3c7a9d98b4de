// SPDX-License-Identifier: Apache-2.0
// What an engine does at once for callers that keep nothing: only where nobody would have waited.
#include "engine/here.h"

#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "engine/dependency_engine.h"
#include "fixture.h"

namespace mxnet::engine_test {
namespace {

class EngineHere : public EveryEngine {
 protected:
  engine::DependencyEngine& real() { return static_cast<engine::DependencyEngine&>(*engine); }
  bool run_if_free(const Vars& reads, const Vars& writes, int* runs) {
    SyncFn body = [runs](const RunContext&) { ++*runs; };
    OpSpec s = spec(reads, writes);
    s.cheap = true;
    return real().run_if_free(body, s);
  }
  // An operation that has begun and ends when its caller says so.
  OnComplete begin_to_write(Var* var) {
    // Shared: the worker may still be inside of set_value() when the number is there.
    const auto started = std::make_shared<std::promise<OnComplete>>();
    const Vars writes{var};
    engine->push_async([started](const RunContext&, OnComplete done) { started->set_value(done); },
                       spec({}, writes));
    return started->get_future().get();
  }
  bool runs_cheap_here() const { return naive() || GetParam().type != EngineType::kThreaded; }
};
INSTANTIATE_TEST_SUITE_P(All, EngineHere, testing::ValuesIn(all_kinds()), kind_name);

TEST_P(EngineHere, RunsWhatIsFreeBeforeItReturns) {
  Var *in = variable(), *out = variable();
  int runs = 0;
  EXPECT_EQ(run_if_free({in}, {out}, &runs), runs_cheap_here());
  EXPECT_EQ(runs, runs_cheap_here() ? 1 : 0);
  EXPECT_EQ(engine->version(out), static_cast<uint64_t>(runs));
}

TEST_P(EngineHere, LeavesAloneWhatSomebodyUses) {
  if (naive()) GTEST_SKIP() << "needs an operation that is not done when its push returns";
  Var* var = variable();
  const OnComplete done = begin_to_write(var);
  int runs = 0;
  EXPECT_FALSE(run_if_free({var}, {}, &runs));
  EXPECT_FALSE(real().delete_if_free(var));
  EXPECT_EQ(runs, 0);
  done();
  engine->wait_for_all();
  EXPECT_EQ(run_if_free({var}, {}, &runs), runs_cheap_here());
}

TEST_P(EngineHere, GivesBackWhatItTookBeforeOneThatIsUsed) {
  if (naive()) GTEST_SKIP() << "needs an operation that is not done when its push returns";
  Var *in = variable(), *out = variable(), *used = variable();
  const OnComplete done = begin_to_write(used);
  int runs = 0;
  EXPECT_FALSE(run_if_free({in, used}, {out}, &runs));
  EXPECT_FALSE(run_if_free({in}, {out, used}, &runs));
  EXPECT_EQ(runs, 0);
  EXPECT_EQ(run_if_free({}, {in, out}, &runs), runs_cheap_here());
  done();
  engine->wait_for_all();
}

TEST_P(EngineHere, AFailedVariableEndsAsAnOperation) {
  Var* var = engine->new_variable();
  push([](const RunContext&) { throw std::runtime_error("no"); }, {}, {var});
  EXPECT_EQ(thrown_by([&] { engine->wait_for_all(); }), "no");
  EXPECT_TRUE(real().delete_if_free(var));

  Var* carrier = engine->new_variable();
  push([](const RunContext&) { throw std::runtime_error("no"); }, {}, {carrier});
  while (!naive() && engine->version(carrier) == 0) {
  }
  EXPECT_FALSE(real().delete_if_free(carrier));
  engine->delete_variable(carrier, {});
  EXPECT_EQ(thrown_by([&] { engine->wait_for_all(); }), "no");
}

// As if it had been pushed: nothing at the call, all at the wait, once.
TEST_P(EngineHere, WhatItThrowsIsFoundByAWait) {
  if (!runs_cheap_here()) GTEST_SKIP() << "runs nothing here";
  Var *in = variable(), *out = variable();
  const Vars reads{in}, writes{out};
  OpSpec s = spec(reads, writes, "op");
  s.cheap = true;
  SyncFn body = [](const RunContext&) { throw std::runtime_error("no"); };
  EXPECT_TRUE(real().run_if_free(body, s));
  EXPECT_EQ(thrown_by([&] { engine->wait_to_read(in); }), "");
  EXPECT_EQ(thrown_by([&] { engine->wait_to_read(out); }), "[op] no");
  EXPECT_EQ(thrown_by([&] { engine->wait_for_all(); }), "");
}

TEST_P(EngineHere, WhatReadsAFailedVariableDoesNotRun) {
  if (!runs_cheap_here()) GTEST_SKIP() << "runs nothing here";
  Var *failed = variable(), *out = variable();
  push([](const RunContext&) { throw std::runtime_error("no"); }, {}, {failed});
  while (engine->version(failed) == 0) {
  }
  int runs = 0;
  while (!run_if_free({failed}, {out}, &runs)) {
  }
  EXPECT_EQ(runs, 0);
  EXPECT_EQ(thrown_by([&] { engine->wait_to_read(out); }), "no");
}

// Plain numbers behind variables: whoever was granted several of them has them to itself.
TEST_P(EngineHere, ThreadsTakeSeveralAtOnceBesideWorkers) {
  constexpr int kThreads = 3, kRounds = 600;
  std::array<Var*, 4> vars;
  for (Var*& var : vars) var = variable();
  std::array<int, 4> values{};
  std::atomic<int> wrong{0};
  const auto rounds = [&](std::size_t thread) {
    for (std::size_t round = 0; round < kRounds; ++round) {
      const std::size_t first = (thread + round) % 4, second = (first + 1 + round % 3) % 4;
      const Vars reads{vars[first]}, writes{vars[second]}, both{vars[first], vars[second]};
      SyncFn body = [&values, &wrong, first, second](const RunContext&) {
        const int before = values[first];
        ++values[second];
        wrong += before != values[first];
      };
      OpSpec s = round % 5 == 0 ? spec({}, both) : spec(reads, writes);
      s.cheap = round % 7 != 0;
      if (!s.cheap || !real().run_if_free(body, s)) engine->push(std::move(body), s);
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) threads.emplace_back(rounds, i);
  for (std::thread& thread : threads) thread.join();
  engine->wait_for_all();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(values[0] + values[1] + values[2] + values[3], kThreads * kRounds);
}

// What a variable stands for goes with it at once, whoever has used it last.
TEST_P(EngineHere, ThreadsEndWhatWorkersHaveJustUsed) {
  constexpr int kThreads = 3, kRounds = 400;
  std::atomic<int> wrong{0};
  const auto rounds = [&] {
    for (int round = 0; round < kRounds; ++round) {
      Var* var = engine->new_variable();
      int* const value = new int(0);
      const Vars writes{var};
      for (int i = 0; i < round % 4; ++i)
        engine->push([value](const RunContext&) { ++*value; }, spec({}, writes));
      SyncFn body = [&](const RunContext&) { wrong += *value != round % 4; };
      OpSpec s = spec({}, writes);
      s.cheap = true;
      for (int look = 0; look < round % 64 && !real().run_if_free(body, s); ++look) {
      }
      if (real().delete_if_free(var)) {
        wrong += *value != round % 4;
        delete value;
      } else {
        engine->delete_variable(var, {}, [value](const RunContext&) { delete value; });
      }
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(rounds);
  for (std::thread& thread : threads) thread.join();
  engine->wait_for_all();
  EXPECT_EQ(wrong, 0);
}

TEST_P(EngineHere, WhatABulkHoldsIsNotFree) {
  if (naive()) GTEST_SKIP() << "has no bulks to look at";
  Var* var = engine->new_variable();
  engine->set_bulk_size(10);
  int runs = 0;
  push([&](const RunContext&) { ++runs; }, {}, {var});
  EXPECT_FALSE(real().delete_if_free(var));
  engine->set_bulk_size(0);
  engine->wait_for_all();
  EXPECT_EQ(runs, 1);
  EXPECT_TRUE(real().delete_if_free(var));
}

}  // namespace
}  // namespace mxnet::engine_test
