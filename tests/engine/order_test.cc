// SPDX-License-Identifier: Apache-2.0
// The order of operations, versions, deletion, waits and the checks of a push, on every engine.
#include "fixture.h"

#include <atomic>
#include <chrono>
#include <thread>

#include "base/error.h"

namespace mxnet::engine_test {
namespace {

class EngineOrder : public EveryEngine {};
INSTANTIATE_TEST_SUITE_P(All, EngineOrder, testing::ValuesIn(all_kinds()), kind_name);

TEST_P(EngineOrder, WritesOfOneVariableRunInTheOrderOfTheirPushes) {
  Var* var = variable();
  std::vector<int> seen;
  for (int i = 0; i < 1000; ++i)
    push([&seen, i](const RunContext&) { seen.push_back(i); }, {}, {var});
  engine->wait_for_var(var);
  ASSERT_EQ(seen.size(), 1000u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], i);
}

TEST_P(EngineOrder, ReadersSeeTheLastWriteAndAWriterWaitsForReaders) {
  Var* var = variable();
  int value = 0;
  std::atomic<int> wrong{0};
  for (int i = 1; i <= 200; ++i) {
    push([&value, i](const RunContext&) { value = i; }, {}, {var});
    for (int r = 0; r < 3; ++r) {
      push([&, i](const RunContext&) { wrong += value != i; }, {var}, {});
    }
  }
  engine->wait_for_all();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(value, 200);
}

// What waits for a variable lies in two parts: reads at the end of the one and at the beginning of
// the other belong together.
TEST_P(EngineOrder, ReadsThatQueuedBeforeAndAfterAHandOverRunTogether) {
  if (GetParam().threads < 2 || GetParam().cheap)
    GTEST_SKIP() << "needs two workers, and a pusher that runs nothing itself";
  Var* var = variable();
  std::promise<void> first, second, began;
  std::atomic<int> reading{0}, met{0};
  std::vector<char> written;
  const auto write = [&](char name, std::promise<void>* until) {
    push(
        [&written, &began, name, until](const RunContext&) {
          written.push_back(name);
          if (name == 'b') began.set_value();
          if (until != nullptr) until->get_future().wait();
        },
        {}, {var});
  };
  const auto read = [&] {
    push(
        [&](const RunContext&) {
          ++reading;
          const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
          while (reading < 2 && std::chrono::steady_clock::now() < deadline)
            std::this_thread::yield();
          met += reading == 2;
        },
        {var}, {});
  };
  write('a', &first);
  write('b', &second);
  read();
  first.set_value();
  began.get_future().wait();
  read();
  write('c', nullptr);
  second.set_value();
  engine->wait_for_all();
  EXPECT_EQ(met, 2);
  EXPECT_EQ(written, (std::vector{'a', 'b', 'c'}));
}

TEST_P(EngineOrder, TheVersionCountsWrites) {
  Var *a = variable(), *b = variable();
  for (int i = 0; i < 5; ++i) push([](const RunContext&) {}, {a}, {b});
  engine->wait_for_all();
  EXPECT_EQ(engine->version(a), 0u);
  EXPECT_EQ(engine->version(b), 5u);
}

TEST_P(EngineOrder, AnOperationWithHundredsOfVariablesIsOrderedLikeAnyOther) {
  for (std::size_t n : {9u, 33u, 200u, 700u}) {
    Vars vars;
    for (std::size_t i = 0; i < n; ++i) vars.push_back(variable());
    std::vector<int> values(n, 0);
    for (std::size_t i = 0; i < n; ++i)
      push([&values, i](const RunContext&) { values[i] = 1; }, {}, {vars[i]});
    int sum = 0;
    Var* total = variable();
    push(
        [&](const RunContext&) {
          for (int v : values) sum += v;
        },
        vars, {total});
    for (std::size_t i = 0; i < n; ++i)
      push([&values, i](const RunContext&) { values[i] = 9; }, {}, {vars[i]});
    engine->wait_for_all();
    EXPECT_EQ(sum, static_cast<int>(n));
    EXPECT_EQ(values[n - 1], 9);
  }
}

TEST_P(EngineOrder, DuplicateVariablesAreRefusedWithTheNameOfTheOperation) {
  Var *a = variable(), *b = variable();
  Vars many;
  for (int i = 0; i < 40; ++i) many.push_back(variable());
  many.push_back(many[7]);
  const std::vector<std::pair<Vars, Vars>> bad{
      {{a, a}, {b}}, {{a}, {b, b}}, {{a, b}, {b}}, {many, {a}}};
  for (const auto& [reads, writes] : bad) {
    try {
      push([](const RunContext&) { FAIL() << "ran"; }, reads, writes, "twin");
      FAIL() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kValue);
      EXPECT_EQ(error.tag(), "twin");
    }
  }
  engine->wait_for_all();  // and nothing stays in flight
}

TEST_P(EngineOrder, DeduplicatedListsAreAccepted) {
  Var *a = variable(), *b = variable(), *c = variable();
  for (const int times : {1, 100}) {  // few and many are compared in two ways
    Vars reads, writes;
    for (int i = 0; i < times; ++i) {
      reads.insert(reads.end(), {a, b, a, c});
      writes.insert(writes.end(), {c, b, c});
    }
    dedup_variables(&reads, &writes);
    EXPECT_EQ(reads, (Vars{a}));
    EXPECT_EQ(writes, (Vars{c, b}));
  }
}

TEST_P(EngineOrder, AVariableIsDeletedAfterAllItsOperationsWhileTheyAreInFlight) {
  for (int round = 0; round < 50; ++round) {
    Var* var = engine->new_variable();
    std::atomic<int> done{0};
    std::atomic<int> at_end{-1};
    for (int i = 0; i < 10; ++i) push([&](const RunContext&) { ++done; }, {}, {var});
    engine->delete_variable(var, {}, [&](const RunContext&) { at_end = done.load(); });
    engine->wait_for_all();
    EXPECT_EQ(at_end, 10);
  }
}

TEST_P(EngineOrder, AnAsynchronousOperationEndsWhenItIsCompletedByAnyThread) {
  Var* var = variable();
  int value = 0;
  std::vector<std::thread> threads(
      20);  // a dependent may start while the function of the one before still returns
  for (int i = 1; i <= 20; ++i) {
    const Vars writes{var};
    const OpSpec s = spec({}, writes);
    engine->push_async(
        [&, i](const RunContext&, OnComplete done) {
          threads[static_cast<std::size_t>(i - 1)] = std::thread([&value, i, done] {
            value += i;
            done();
          });
        },
        s);
  }
  engine->wait_for_all();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(value, 210);
  EXPECT_EQ(engine->version(var), 20u);
}

TEST_P(EngineOrder, AnOperationMayPushOperationsWithoutBound) {
  Var* var = variable();
  int left = 20000;
  std::function<void()> again = [&] {
    push(
        [&](const RunContext&) {
          if (--left > 0) again();
        },
        {}, {var});
  };
  again();
  engine->wait_for_all();
  EXPECT_EQ(left, 0);
}

TEST_P(EngineOrder, NestedPushesOnOtherVariablesDoNotRecurseWithoutBound) {
  std::atomic<int> left{20000};
  std::function<void()> again = [&] {
    push(
        [&](const RunContext&) {
          if (--left > 0) again();
        },
        {}, {});
  };
  again();
  engine->wait_for_all();
  EXPECT_EQ(left, 0);
}

TEST_P(EngineOrder, PushesOfTwoThreadsOnTheSameVariablesNeverDeadlock) {
  Var *a = variable(), *b = variable();
  long in_a = 0, in_b = 0;
  const auto producer = [&](bool flip) {
    for (int i = 0; i < 2000; ++i) {
      push(
          [&](const RunContext&) {
            ++in_a;
            ++in_b;
          },
          {}, flip ? Vars{b, a} : Vars{a, b});
    }
  };
  std::thread other(producer, true);
  producer(false);
  other.join();
  engine->wait_for_all();
  EXPECT_EQ(in_a, 4000);
  EXPECT_EQ(in_b, 4000);
}

TEST_P(EngineOrder, AWaitThatCouldBlockIsRefusedInsideAnOperation) {
  Var* var = variable();
  push([&](const RunContext&) { engine->wait_for_all(); }, {}, {var});
  EXPECT_NE(thrown_by([&] { engine->wait_for_all(); }).find("inside an operation"),
            std::string::npos);
  push([&](const RunContext&) { engine->wait_for_var(var); }, {}, {var});
  EXPECT_NE(thrown_by([&] { engine->wait_for_var(var); }).find("inside an operation"),
            std::string::npos);
}

TEST_P(EngineOrder, APreparedOperationMayBePushedAgainAndAgain) {
  Var *in = variable(), *out = variable();
  int count = 0;
  const Vars reads{in}, writes{out};
  OpSpec s = spec(reads, writes, "counter");
  s.cheap = GetParam().cheap;
  {
    const PreparedRef sync = engine->prepare([&](const RunContext&) { ++count; }, s);
    const PreparedRef async = engine->prepare_async(
        [&](const RunContext&, OnComplete done) {
          ++count;
          done();
        },
        s);
    for (int i = 0; i < 500; ++i) {
      engine->push(sync);
      engine->push(async);
    }
  }  // those in flight keep it
  engine->wait_for_var(out);
  EXPECT_EQ(count, 1000);
  EXPECT_EQ(engine->version(out), 1000u);
}

TEST_P(EngineOrder, AfterShutdownOperationsRunAtOnceOnThePushersThread) {
  Var* var = variable();
  engine->shutdown();
  engine->shutdown();
  std::thread::id ran_on;
  push([&](const RunContext&) { ran_on = std::this_thread::get_id(); }, {}, {var});
  EXPECT_EQ(ran_on, std::this_thread::get_id());
}

TEST_P(EngineOrder, WorkGoesOnAfterQuiesceAndResume) {
  Var* var = variable();
  int count = 0;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 100; ++i) push([&](const RunContext&) { ++count; }, {}, {var});
    engine->quiesce();
    EXPECT_EQ(count, (round + 1) * 100);
    engine->resume(false);
  }
}

TEST_P(EngineOrder, WaitForAllEndsAlthoughAnotherThreadNeverStopsPushing) {
  std::atomic<bool> stop{false}, started{false};
  std::thread pusher([&] {
    Var* own = engine->new_variable();
    while (!stop) {
      push([](const RunContext&) {}, {}, {own});
      started = true;
    }
    engine->delete_variable(own, {});
  });
  while (!started) std::this_thread::yield();
  Var* mine = variable();
  std::atomic<int> done{0};
  for (int i = 1; i <= 20; ++i) {
    push([&](const RunContext&) { ++done; }, {}, {mine});
    engine->wait_for_all();
    EXPECT_EQ(done, i);  // what was pushed before it has ended, whatever is pushed meanwhile
  }
  stop = true;
  pusher.join();
}

TEST(EngineWaits, WaitToReadDoesNotWaitForReaders) {
  const auto engine = make_engine(config_of({EngineType::kThreadedPerDevice, 1, false}));
  Var* var = engine->new_variable();
  std::promise<void> release;
  bool reading = true;
  const Vars reads{var};
  engine->push(
      [&](const RunContext&) {
        release.get_future().wait();
        reading = false;
      },
      spec(reads, {}));
  engine->wait_to_read(var);
  EXPECT_TRUE(reading);
  release.set_value();
  engine->wait_for_var(var);
  EXPECT_FALSE(reading);
  engine->delete_variable(var, {});
}

}  // namespace
}  // namespace mxnet::engine_test
