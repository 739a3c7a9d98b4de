// SPDX-License-Identifier: Apache-2.0
// A wait that the program ends leaves the work going on, and later waits as they were.
#include "engine/interrupt.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <latch>
#include <thread>

#include "base/error.h"
#include "engine/engine.h"
#include "engine/run_ahead.h"
#include "engine/waiting.h"
#include "fixture.h"

namespace mxnet::engine {
namespace {

std::atomic<int> g_asked{0};
// Lets a wait sleep once, then ends it.
int ask_twice() { return ++g_asked > 1 ? 1 : 0; }

class Interrupt : public ::testing::Test {
 protected:
  void SetUp() override {
    g_asked = 0;
    set_interrupt_check(&ask_twice);
  }
  void TearDown() override { set_interrupt_check(nullptr); }
};

TEST_F(Interrupt, AWaiterThatLeavesGivesTheEventToItsRinger) {
  auto* event = new OneShot;
  EXPECT_FALSE(event->wait_unless(&ask_twice));
  event->ring();  // deletes it: the address sanitizer would tell
}

TEST_F(Interrupt, AnEventThatComesFirstIsNotLost) {
  OneShot* event = new OneShot;
  std::thread ringer([event] { event->ring(); });
  EXPECT_TRUE(event->wait_unless([] { return 0; }));
  ringer.join();
  delete event;
}

TEST_F(Interrupt, WaitsOfTheEngineEndAndTheWorkGoesOn) {
  const std::unique_ptr<Engine> made =
      make_engine(engine_test::config_of({EngineType::kThreadedPerDevice, 2, false}));
  Engine& engine = *made;
  Var* var = engine.new_variable();
  std::latch release(1);
  std::atomic<bool> done{false};
  engine.push(
      [&](const RunContext&) {
        release.wait();
        done = true;
      },
      {.device = {}, .reads = {}, .writes = std::span<Var* const>(&var, 1)});
  EXPECT_THROW(engine.wait_to_read(var), Error);
  g_asked = 0;
  EXPECT_THROW(engine.wait_for_all(), Error);
  EXPECT_FALSE(done);
  set_interrupt_check(nullptr);
  release.count_down();
  engine.wait_for_all();
  EXPECT_TRUE(done);
  engine.wait_to_read(var);
  engine.delete_variable(var, {});
}

TEST_F(Interrupt, APushThatWaitsForRoomIsNotMade) {
  EngineConfig config = engine_test::config_of({EngineType::kThreadedPerDevice, 2, false});
  config.run_ahead_bytes = 10;
  const std::unique_ptr<Engine> engine = make_engine(config);
  Var* var = engine->new_variable();
  std::latch release(1);
  std::atomic<int> ran{0};
  const OpSpec large{
      .device = {}, .reads = {}, .writes = std::span<Var* const>(&var, 1), .temp_bytes = 8};
  const auto push = [&] {
    engine->push(
        [&](const RunContext&) {
          release.wait();
          ++ran;
        },
        large);
  };
  push();
  EXPECT_THROW(push(), Error);
  set_interrupt_check(nullptr);
  release.count_down();
  engine->wait_for_all();
  EXPECT_EQ(ran, 1);
  push();
  engine->wait_for_all();
  EXPECT_EQ(ran, 2);
  engine->delete_variable(var, {});
}

TEST_F(Interrupt, AProducerThatWaitsForRecordsIsLeft) {
  const std::unique_ptr<Engine> engine =
      make_engine(engine_test::config_of({EngineType::kThreadedPerDevice, 2, false}));
  Var* var = engine->new_variable();
  std::latch release(1);
  std::atomic<int> ran{0};
  const OpSpec writes{.device = {}, .reads = {}, .writes = std::span<Var* const>(&var, 1)};
  engine->push([&](const RunContext&) { release.wait(); }, writes);
  int pushed = 0;
  const auto push_many = [&] {
    for (int i = 0; i < 2 * static_cast<int>(engine::kMostAhead); ++i, ++pushed)
      engine->push([&](const RunContext&) { ++ran; }, writes);
  };
  EXPECT_THROW(push_many(), Error);
  set_interrupt_check(nullptr);
  release.count_down();
  engine->wait_for_all();
  EXPECT_EQ(ran, pushed);
  engine->delete_variable(var, {});
}

TEST_F(Interrupt, AShutdownThatIsLeftDropsWhatHasNotBegun) {
  const std::unique_ptr<Engine> engine =
      make_engine(engine_test::config_of({EngineType::kThreadedPerDevice, 2, false}));
  Var* const vars[] = {engine->new_variable(), engine->new_variable()};
  std::latch begun(1), release(1);
  std::atomic<int> ran{0};
  const auto push = [&](auto work) {
    engine->push(work, {.device = {}, .reads = {}, .writes = std::span<Var* const>(vars, 1)});
  };
  push([&](const RunContext&) {
    begun.count_down();
    release.wait();
    ++ran;
  });
  push([&](const RunContext&) { ++ran; });
  engine->push_async(
      [&](const RunContext&, OnComplete complete) {
        ++ran;
        complete();
      },
      {.device = {},
       .reads = std::span<Var* const>(vars, 1),
       .writes = std::span<Var* const>(vars + 1, 1)});
  begun.wait();
  // Two questions, of which the second one is answered: leave. Then the first may end.
  std::thread releaser([&] {
    while (g_asked < 2) std::this_thread::yield();
    std::this_thread::sleep_for(kInterruptSlice);
    release.count_down();
  });
  EXPECT_THROW(engine->shutdown(), Error);
  releaser.join();
  set_interrupt_check(nullptr);
  EXPECT_EQ(ran, 1);
  for (Var* var : vars) EXPECT_THROW(engine->wait_to_read(var), Error);
  push([&](const RunContext&) { ++ran; });  // at once, now
  EXPECT_EQ(ran, 2);
  engine->wait_to_read(vars[0]);
  engine->shutdown();
  for (Var* var : vars) engine->delete_variable(var, {});
}

TEST_F(Interrupt, AWaiterThatHelpsLeavesTheRestToOthers) {
  const std::unique_ptr<Engine> made =
      make_engine(engine_test::config_of({EngineType::kThreadedPerDevice, 1, false}));
  Engine& engine = *made;
  Var* var = engine.new_variable();
  constexpr int kSteps = 8, kTries = 20;
  std::atomic<int> ran{0};
  const auto wait_ends = [&] {
    g_asked = 0;
    EXPECT_THROW(engine.wait_to_read(var), Error);
    EXPECT_LT(ran, kSteps);
    g_asked = 0;
    EXPECT_THROW(engine.wait_for_all(), Error);
    EXPECT_LT(ran, kSteps);
  };
  bool helped = false;
  for (int i = 0; i < kTries && !helped; ++i) {  // a worker that wakes soon is there first
    ran = 0;
    std::promise<void> left;  // without it the worker may be done before a slow waiter asks
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    for (int step = 0; step < kSteps; ++step) {
      engine.push(
          [&, step, waiter = std::this_thread::get_id()](const RunContext&) {
            if (step == 0) helped = std::this_thread::get_id() == waiter;
            std::this_thread::sleep_for(kInterruptSlice);
            if (step == kSteps - 1) left.get_future().wait_for(std::chrono::seconds(60));
            ++ran;
          },
          {.device = {}, .reads = {}, .writes = std::span<Var* const>(&var, 1), .computes = true});
    }
    set_interrupt_check(&ask_twice);
    wait_ends();
    set_interrupt_check(nullptr);
    left.set_value();
    engine.wait_for_all();
    EXPECT_EQ(ran, kSteps);
  }
  engine.delete_variable(var, {});
  if (!helped) GTEST_SKIP() << "the worker was always first";
}

}  // namespace
}  // namespace mxnet::engine
