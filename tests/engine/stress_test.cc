// SPDX-License-Identifier: Apache-2.0
// Many threads push, wait, delete and prepare on shared variables at once. The data the operations
// touch is not atomic: with the thread sanitizer, any hole in the engine's ordering is a reported
// race.
#include <array>
#include <random>
#include <thread>

#include "base/hooks.h"
#include "fixture.h"

namespace mxnet::engine_test {
namespace {

constexpr int kPushers = 4;
constexpr int kEach = 3000;
constexpr std::size_t kShared = 6;

class EngineStress : public EveryEngine {};
INSTANTIATE_TEST_SUITE_P(All, EngineStress,
                         testing::Values(Kind{EngineType::kNaive, 1, false},
                                         Kind{EngineType::kThreaded, 3, false},
                                         Kind{EngineType::kThreadedPerDevice, 1, false},
                                         Kind{EngineType::kThreadedPerDevice, 3, false},
                                         Kind{EngineType::kThreadedPerDevice, 3, true}),
                         kind_name);

TEST_P(EngineStress, ConcurrentPushersNeverRaceOnWhatTheVariablesGuard) {
  Vars vars;
  std::array<uint64_t, kShared> values{};
  std::array<std::atomic<uint64_t>, kShared> expected{};
  for (std::size_t i = 0; i < kShared; ++i) vars.push_back(variable());
  const auto pusher = [&](unsigned seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < kEach; ++i) {
      std::array<std::size_t, 3> pick;
      pick[0] = random() % kShared;
      do pick[1] = random() % kShared;
      while (pick[1] == pick[0]);
      do pick[2] = random() % kShared;
      while (pick[2] == pick[0] || pick[2] == pick[1]);
      const std::size_t reads = random() % 3;
      OpSpec s;
      Vars r, w;
      for (std::size_t k = 0; k < 3; ++k) (k < reads ? r : w).push_back(vars[pick[k]]);
      for (std::size_t k = reads; k < 3; ++k) ++expected[pick[k]];
      s.reads = r;
      s.writes = w;
      s.priority = random() % 8 == 0 ? 1 : 0;
      s.cheap = random() % 2 == 0;
      s.temp_bytes = random() % 4 == 0 ? 64 : 0;
      const auto work = [&values, pick, reads](const RunContext&) {
        uint64_t sum = 0;
        for (std::size_t k = 0; k < reads; ++k) sum += values[pick[k]];
        for (std::size_t k = reads; k < 3; ++k) values[pick[k]] += 1 + (sum & 0);
      };
      switch (random() % 16) {
        case 0:
          engine->push_async(
              [work](const RunContext& context, OnComplete done) {
                work(context);
                done();
              },
              s);
          break;
        case 1:
          engine->push(engine->prepare(work, s));
          break;
        case 2:
          engine->push(work, s);
          engine->wait_to_read(vars[pick[0]]);
          break;
        case 3: {
          Var* temporary = engine->new_variable();
          engine->push(work, s);
          const std::array<Var*, 1> writes{temporary};
          engine->push([](const RunContext&) {}, {.device = {}, .reads = {}, .writes = writes});
          engine->delete_variable(temporary, {});
          break;
        }
        case 4:
          engine->set_bulk_size(i % 2 == 0 ? 5 : 0);
          engine->push(work, s);
          break;
        default:
          engine->push(work, s);
      }
      if (i % 500 == 0) engine->wait_for_all();
    }
    engine->set_bulk_size(0);
  };
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kPushers; ++t) threads.emplace_back(pusher, t + 1);
  for (std::thread& thread : threads) thread.join();
  engine->wait_for_all();
  for (std::size_t i = 0; i < kShared; ++i) {
    EXPECT_EQ(values[i], expected[i]) << "variable " << i << ", seeds 1.." << kPushers;
    EXPECT_EQ(engine->version(vars[i]), expected[i]);
  }
}

TEST_P(EngineStress, QuiesceAndResumeUnderLoadLoseNothing) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  std::atomic<uint64_t> pushed{0};
  uint64_t ran = 0;
  Var* var = variable();
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      while (!stop) {
        push([&](const RunContext&) { ++ran; }, {}, {var});
        ++pushed;
      }
    });
  }
  for (int i = 0; i < 20; ++i) {
    engine->quiesce();
    engine->resume(false);
    std::this_thread::yield();
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  engine->wait_for_var(var);
  EXPECT_EQ(ran, pushed);
}

// Counts what it is told.
class CountingObserver final : public Observer {
 public:
  void operation_begin(const char*, Device, uint64_t) override { ++begun; }
  void operation_end(const char*, Device, uint64_t) override { ++ended; }
  void memory_event(Device, const char*, int64_t) override {}
  std::atomic<int> begun{0}, ended{0};
};

TEST_P(EngineStress, AnObserverSeesEveryOperationBeginAndEnd) {
  static CountingObserver observer;  // outlives every operation
  observer.begun = observer.ended = 0;
  g_observer = &observer;
  Var* var = variable();
  const Vars writes{var};
  engine->set_bulk_size(4);
  for (int i = 0; i < 10; ++i) push([](const RunContext&) {}, {}, {var});
  engine->set_bulk_size(0);
  for (int i = 0; i < 10; ++i) {
    engine->push_async([](const RunContext&, OnComplete done) { done(); }, spec({}, writes));
  }
  engine->wait_for_all();
  g_observer = nullptr;
  EXPECT_EQ(observer.begun, 20);
  EXPECT_EQ(observer.ended, 20);
}

}  // namespace
}  // namespace mxnet::engine_test
