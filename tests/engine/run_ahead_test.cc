// SPDX-License-Identifier: Apache-2.0
// The bound on what pushed operations hold.
#include "engine/run_ahead.h"
#include "base/config.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <latch>
#include <thread>

#include "fixture.h"

namespace mxnet::engine_test {
namespace {

constexpr int64_t kMegabyte = 1 << 20;

EngineConfig limited(int64_t bytes, int threads = 1) {
  EngineConfig config = config_of({EngineType::kThreadedPerDevice, threads, false});
  config.run_ahead_bytes = bytes;
  return config;
}

TEST(RunAhead, AMillionOperationsWithMegabytesOfTemporariesStayUnderTheCap) {
  constexpr int kOperations = 1000000;
  constexpr int64_t kCap = 64 * kMegabyte;
  const auto engine = make_engine(limited(kCap));
  Var* var = engine->new_variable();
  const Vars writes{var};
  std::atomic<int64_t> held{0};
  int64_t most = 0;
  int ran = 0;
  OpSpec s = spec({}, writes);
  s.temp_bytes = kMegabyte;
  for (int i = 0; i < kOperations; ++i) {
    engine->push(
        [&](const RunContext&) {
          ++ran;
          held -= kMegabyte;
        },
        s);
    most = std::max(most, held += kMegabyte);
  }
  engine->wait_for_var(var);
  EXPECT_EQ(ran, kOperations);
  EXPECT_LE(most, kCap);
  engine->delete_variable(var, {});
}

TEST(RunAhead, AnOperationLargerThanTheCapRunsAlone) {
  const auto engine = make_engine(limited(10, 4));
  std::atomic<int> running{0}, wrong{0};
  OpSpec s;
  s.temp_bytes = 1000;
  for (int i = 0; i < 200; ++i) {
    engine->push(
        [&](const RunContext&) {
          wrong += ++running != 1;
          --running;
        },
        s);
  }
  engine->wait_for_all();
  EXPECT_EQ(wrong, 0);
}

TEST(RunAhead, NeverBlocksInsideAnOperation) {
  const auto engine = make_engine(limited(100));
  OpSpec s;
  s.temp_bytes = 100;
  std::atomic<int> ran{0};
  engine->push(
      [&](const RunContext&) {
        for (int i = 0; i < 10; ++i) engine->push([&](const RunContext&) { ++ran; }, s);
      },
      s);
  engine->wait_for_all();
  EXPECT_EQ(ran, 10);
}

TEST(RunAhead, AnUnfinishedBulkIsPushedBeforeThePusherSleeps) {
  const auto engine = make_engine(limited(100));
  engine->set_bulk_size(1000);
  OpSpec s;
  s.temp_bytes = 40;
  int ran = 0;
  for (int i = 0; i < 50; ++i) engine->push([&](const RunContext&) { ++ran; }, s);
  engine->set_bulk_size(0);
  engine->wait_for_all();
  EXPECT_EQ(ran, 50);
}

// More than the bound, and than what a producer that waits too long in a busy place lets in.
constexpr int kManyAhead = 3 * static_cast<int>(engine::kMostAhead);

TEST(RunAhead, AProducerOfSlowOperationsHoldsABoundedNumberOfRecords) {
  const auto engine = make_engine(limited(0));
  Var* var = engine->new_variable();
  const Vars writes{var};
  std::atomic<int> ran{0};
  int most = 0;
  for (int i = 0; i < kManyAhead; ++i) {
    engine->push(
        [&](const RunContext&) {
          const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(10);
          while (std::chrono::steady_clock::now() < end) {
          }
          ++ran;
        },
        spec({}, writes));
    most = std::max(most, i + 1 - ran);
  }
  engine->wait_for_all();
  EXPECT_EQ(ran, kManyAhead);
  EXPECT_LE(most, 2 * static_cast<int>(engine::kMostAhead));
  engine->delete_variable(var, {});
}

TEST(RunAhead, WhatWaitsForItsProducerDoesNotStopIt) {
  const auto engine = make_engine(limited(0));
  Var* var = engine->new_variable();
  const Vars writes{var};
  std::latch release(1);
  engine->push([&](const RunContext&) { release.wait(); }, spec({}, writes));
  std::atomic<int> ran{0};
  const int pushed = static_cast<int>(engine::kMostAhead) + 2000;
  for (int i = 0; i < pushed; ++i)
    engine->push([&](const RunContext&) { ++ran; }, spec({}, writes));
  EXPECT_EQ(ran, 0);
  release.count_down();
  engine->wait_for_all();
  EXPECT_EQ(ran, pushed);
  engine->delete_variable(var, {});
}

TEST(RunAhead, NoNumberOfRecordsStopsWhatIsPushedInsideAnOperation) {
  const auto engine = make_engine(limited(0));
  Var* var = engine->new_variable();
  const Vars writes{var};
  std::atomic<int> ran{0};
  engine->push(
      [&](const RunContext&) {
        for (int i = 0; i < kManyAhead; ++i)
          engine->push([&](const RunContext&) { ++ran; }, spec({}, writes));
      },
      spec({}, writes));
  engine->wait_for_all();
  EXPECT_EQ(ran, kManyAhead);
  engine->delete_variable(var, {});
}

TEST(RunAhead, SeveralProducersShareOneCap) {
  constexpr int64_t kCap = 1000;
  engine::RunAhead bound(kCap);
  std::atomic<int64_t> held{0}, most{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        const int64_t bytes = 1 + (i * 7 + t) % 400;
        bound.take(static_cast<uint64_t>(bytes));
        const int64_t now = held += bytes;
        for (int64_t seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
        }
        held -= bytes;
        bound.give(static_cast<uint64_t>(bytes));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(held, 0);
  EXPECT_LE(most, kCap);
}

}  // namespace
}  // namespace mxnet::engine_test
