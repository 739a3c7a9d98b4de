// SPDX-License-Identifier: Apache-2.0
// A wait that the program ends leaves the work going on, and later waits as they were.
#include "engine/interrupt.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

#include "base/error.h"
#include "engine/engine.h"
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

TEST_F(Interrupt, AWaiterThatHelpsLeavesTheRestToOthers) {
  const std::unique_ptr<Engine> made =
      make_engine(engine_test::config_of({EngineType::kThreadedPerDevice, 2, false}));
  Engine& engine = *made;
  Var* kept = engine.new_variable();
  Var* var = engine.new_variable();
  std::latch busy(1), release(1);
  engine.push(
      [&](const RunContext&) {
        busy.count_down();
        release.wait();
      },
      {.device = {}, .reads = {}, .writes = std::span<Var* const>(&kept, 1)});
  busy.wait();  // one worker is kept: the waiter helps the other, whoever comes first
  constexpr int kSteps = 20;
  std::atomic<int> ran{0};
  for (int i = 0; i < kSteps; ++i) {
    engine.push(
        [&](const RunContext&) {
          std::this_thread::sleep_for(kInterruptSlice / 2);
          ++ran;
        },
        {.device = {}, .reads = {}, .writes = std::span<Var* const>(&var, 1), .computes = true});
  }
  EXPECT_THROW(engine.wait_to_read(var), Error);
  EXPECT_GT(ran, 0);
  EXPECT_LT(ran, kSteps);
  const int before = ran;
  g_asked = 0;
  EXPECT_THROW(engine.wait_for_all(), Error);
  EXPECT_GE(ran, before);
  EXPECT_LT(ran, kSteps);
  set_interrupt_check(nullptr);
  release.count_down();
  engine.wait_for_all();
  EXPECT_EQ(ran, kSteps);
  engine.delete_variable(var, {});
  engine.delete_variable(kept, {});
}

}  // namespace
}  // namespace mxnet::engine
