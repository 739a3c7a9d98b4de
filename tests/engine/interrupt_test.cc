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

}  // namespace
}  // namespace mxnet::engine
