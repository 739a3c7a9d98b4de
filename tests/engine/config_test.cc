// SPDX-License-Identifier: Apache-2.0
// What each row of the engine's configuration changes; config_rows_runtime.h names these tests.
#include <barrier>
#include <chrono>
#include <cstdio>
#include <future>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "base/config.h"
#include "device/device_registry.h"
#include "device/sim/sim_device_api.h"
#include "fixture.h"
#include "hang.h"

namespace mxnet::engine_test {
namespace {

// The most operations of that kind that ever run at once, out of many more than `expected`.
// Operations come in groups of `expected` that meet at a barrier: fewer threads would never end,
// which the test's time limit turns into a failure.
int most_at_once(const EngineConfig& config, Device device, FnProperty property, int expected) {
  const auto engine = make_engine(config);
  std::barrier<> meeting(expected);
  std::atomic<int> running{0}, most{0};
  OpSpec spec;
  spec.device = device;
  spec.property = property;
  for (int i = 0; i < 20 * expected; ++i) {
    engine->push(
        [&](const RunContext&) {
          const int now = ++running;
          for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
          }
          meeting.arrive_and_wait();
          --running;
        },
        spec);
  }
  engine->wait_for_all();
  return most;
}

TEST(EngineConfig, TypeSelectsPolicy) {
  const auto ran_on_pusher = [](EngineType type, bool cheap) {
    const auto engine = make_engine(config_of({type, 1, false}));
    std::thread::id ran_on;
    OpSpec spec;
    spec.cheap = cheap;
    engine->push([&](const RunContext&) { ran_on = std::this_thread::get_id(); }, spec);
    engine->wait_for_all();
    return ran_on == std::this_thread::get_id();
  };
  EXPECT_TRUE(ran_on_pusher(EngineType::kNaive, false));
  EXPECT_FALSE(ran_on_pusher(EngineType::kThreaded, false));
  EXPECT_FALSE(ran_on_pusher(EngineType::kThreaded, true));
  EXPECT_FALSE(ran_on_pusher(EngineType::kThreadedPerDevice, false));
  EXPECT_TRUE(ran_on_pusher(EngineType::kThreadedPerDevice, true));
}

TEST(EngineConfig, CpuWorkerThreadsRunAtOnce) {
  for (int threads : {1, 2, 5}) {
    for (EngineType type : {EngineType::kThreaded, EngineType::kThreadedPerDevice}) {
      EXPECT_EQ(most_at_once(config_of({type, threads, false}), {}, FnProperty::kNormal, threads),
                threads);
    }
  }
}

TEST(EngineConfig, CpuPriorityThreadsRunAtOnce) {
  for (int threads : {1, 3}) {
    EngineConfig config = config_of({EngineType::kThreadedPerDevice, 1, false});
    config.cpu_priority_nthreads = threads;
    EXPECT_EQ(most_at_once(config, {}, FnProperty::kCPUPrioritized, threads), threads);
  }
}

TEST(EngineConfig, CpuPriorityThreadsRunBesideBusyWorkers) {
  const auto engine = make_engine(config_of({EngineType::kThreadedPerDevice, 1, false}));
  std::promise<void> urgent_ran;
  bool ran_beside = false;
  OpSpec spec;
  engine->push(  // holds the only worker
      [&](const RunContext&) {
        ran_beside =
            urgent_ran.get_future().wait_for(std::chrono::seconds(60)) == std::future_status::ready;
      },
      spec);
  spec.property = FnProperty::kCPUPrioritized;
  engine->push([&](const RunContext&) { urgent_ran.set_value(); }, spec);
  engine->wait_for_all();
  EXPECT_TRUE(ran_beside);
}

class EngineConfigGpu : public testing::Test {
 protected:
  static DeviceConfig two_gpus() {
    DeviceConfig config;
    config.sim_gpus = 2;
    return config;
  }
  SimDeviceApi sim_{two_gpus()};
  DeviceApiOverride override_{DeviceType::kGPU, sim_};
};

TEST_F(EngineConfigGpu, GpuWorkerThreadsRunAtOnceOnEachGpu) {
  for (int threads : {1, 3}) {
    EngineConfig config = config_of({EngineType::kThreadedPerDevice, 1, false});
    config.gpu_worker_nthreads = threads;
    EXPECT_EQ(most_at_once(config, Device::gpu(0), FnProperty::kNormal, threads), threads);
    EXPECT_EQ(most_at_once(config, Device::gpu(1), FnProperty::kGPUPrioritized, threads), threads);
  }
}

TEST_F(EngineConfigGpu, GpuCopyThreadsRunAtOnce) {
  for (int threads : {1, 3}) {
    EngineConfig config = config_of({EngineType::kThreadedPerDevice, 1, false});
    config.gpu_copy_nthreads = threads;
    EXPECT_EQ(most_at_once(config, Device::gpu(0), FnProperty::kCopyToGPU, threads), threads);
    EXPECT_EQ(most_at_once(config, Device::gpu(0), FnProperty::kCopyFromGPU, threads), threads);
  }
}

// Ends with what the child of a fork ends with: 7 when three operations ran at once in it.
[[noreturn]] void fork_with_three_workers() {
  EngineConfig config = config_of({EngineType::kThreadedPerDevice, 1, false});
  config.mp_worker_nthreads = 3;
  const auto engine = make_engine(config);
  engine->push([](const RunContext&) {}, {});
  engine->quiesce();
  const pid_t child = fork();
  if (child == 0) {
    engine->resume(true);
    std::barrier<> meeting(3);  // three operations at once, or a hang
    end_if_it_hangs();
    for (int i = 0; i < 3; ++i)
      engine->push([&](const RunContext&) { meeting.arrive_and_wait(); }, {});
    engine->wait_for_all();
    _exit(7);
  }
  engine->resume(false);
  int status = 0;
  _exit(waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

TEST(EngineConfig, ForkedChildHasItsOwnNumberOfWorkers) {
  // A program of its own: once the process's engine is used, it prepares for forks too, and would
  // wait for the locks of all engines that this one holds already.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(fork_with_three_workers(), testing::ExitedWithCode(7), "");
}

TEST(EngineConfig, InfoLogsEveryOperation) {
  const auto lines_with = [](bool info) {
    EngineConfig config = config_of({EngineType::kThreadedPerDevice, 1, false});
    config.info = info;
    const auto engine = make_engine(config);
    OpSpec spec;
    spec.name = "telltale";
    testing::internal::CaptureStderr();
    for (int i = 0; i < 3; ++i) {
      engine->push([](const RunContext&) {}, spec);
      engine->push_async([](const RunContext&, OnComplete done) { done(); }, spec);
    }
    engine->wait_for_all();
    const std::string text = testing::internal::GetCapturedStderr();
    int lines = 0;
    for (std::size_t at = 0; (at = text.find("telltale", at)) != std::string::npos; ++at) ++lines;
    return lines;
  };
  EXPECT_EQ(lines_with(true), 6);
  EXPECT_EQ(lines_with(false), 0);
}

TEST(EngineConfig, RunAheadBytesBoundWhatIsInFlight) {
  const auto most_held = [](int64_t limit) {
    EngineConfig config = config_of({EngineType::kThreadedPerDevice, 1, false});
    config.run_ahead_bytes = limit;
    const auto engine = make_engine(config);
    std::atomic<int> pushed{0}, done{0}, most{0};
    std::promise<void> go;
    OpSpec spec;
    spec.temp_bytes = 100;
    // With a limit, the push below it blocks until this one ends; without, all 50 are pushed before
    // it may.
    engine->push(
        [&](const RunContext&) {
          if (limit == 0) go.get_future().wait();
          ++done;
        },
        spec);
    for (int i = 0; i < 50; ++i) {
      engine->push([&](const RunContext&) { ++done; }, spec);
      most = std::max(most.load(), ++pushed + 1 - done.load());
    }
    if (limit == 0) go.set_value();
    engine->wait_for_all();
    return most.load();
  };
  EXPECT_LE(most_held(300), 3);
  EXPECT_EQ(most_held(0), 51);
}

}  // namespace
}  // namespace mxnet::engine_test
