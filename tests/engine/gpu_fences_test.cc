// SPDX-License-Identifier: Apache-2.0
// Operations that complete by event: those that depend on them are put behind them on the device,
// and the host waits only where it looks at the result.
#include <atomic>
#include <random>

#include "base/config.h"
#include "base/error.h"
#include "device/device_registry.h"
#include "device/sim/sim_device_api.h"
#include "engine/fences.h"
#include "fixture.h"

namespace mxnet::engine_test {
namespace {

constexpr unsigned kSeed = 810;

// Counts how often the host waits, and how often a stream waits for another.
class CountingDeviceApi final : public SimDeviceApi {
 public:
  using SimDeviceApi::SimDeviceApi;
  using SimDeviceApi::synchronize;
  void synchronize(int device, NativeStream* stream) override {
    ++host_waits;
    SimDeviceApi::synchronize(device, stream);
  }
  void synchronize(int device, NativeEvent* event) override {
    ++host_waits;
    SimDeviceApi::synchronize(device, event);
  }
  void wait(int device, NativeStream* stream, NativeEvent* event) override {
    ++stream_waits;
    SimDeviceApi::wait(device, stream, event);
  }
  std::atomic<int> host_waits{0}, stream_waits{0};
};

class EngineFences : public testing::TestWithParam<int> {
 protected:
  EngineFences() {
    EngineConfig config;
    config.type = EngineType::kThreadedPerDevice;
    config.gpu_worker_nthreads = GetParam();
    engine_ = make_engine(config);
  }
  ~EngineFences() override {
    for (Var* var : vars_) engine_->delete_variable(var, {});
    engine_.reset();  // its streams and events go before the simulator
  }
  static DeviceConfig two_gpus() {
    DeviceConfig config;
    config.sim_gpus = 2;
    return config;
  }
  Var* variable() { return vars_.emplace_back(engine_->new_variable()); }

  // Leaves `work` on the stream of the operation, as a kernel would be.
  void push_gpu(std::function<void()> work, const Vars& reads, const Vars& writes, int gpu = 0) {
    OpSpec s = spec(reads, writes, "kernel");
    s.device = Device::gpu(gpu);
    engine_->push(
        [this, gpu, work](const RunContext& context) {
          EXPECT_EQ(engine::current_stream(), context.stream);
          context.stream->api().host_call(gpu, context.stream->native(), work);
          engine::complete_by_event();
          ++launched_;
        },
        s);
  }
  void push_cpu(std::function<void()> work, const Vars& reads, const Vars& writes,
                bool cheap = true) {
    OpSpec s = spec(reads, writes, "host");
    s.cheap = cheap;
    engine_->push([work](const RunContext&) { work(); }, s);
  }
  // Until so many operations have put their work on a stream.
  void await_launches(int count) {
    while (launched_.load() < count) std::this_thread::yield();
  }

  CountingDeviceApi sim_{two_gpus()};
  DeviceApiOverride override_{DeviceType::kGPU, sim_};
  std::unique_ptr<Engine> engine_;
  std::atomic<int> launched_{0};

 private:
  Vars vars_;
};
INSTANTIATE_TEST_SUITE_P(Workers, EngineFences, testing::Values(1, 2, 4));

TEST_P(EngineFences, AChainIsLaunchedWhileItsFirstKernelStillRuns) {
  Var* var = variable();
  std::promise<void> gate;
  std::shared_future<void> open = gate.get_future().share();
  std::vector<int> order;
  push_gpu([open] { open.wait(); }, {}, {var});
  for (int i = 0; i < 20; ++i) push_gpu([&order, i] { order.push_back(i); }, {}, {var});
  await_launches(21);
  EXPECT_EQ(sim_.host_waits, 0);
  EXPECT_TRUE(order.empty());
  gate.set_value();
  engine_->wait_to_read(var);
  EXPECT_EQ(order.size(), 20u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(sim_.host_waits, 1);
}

TEST_P(EngineFences, OneStreamNeedsNoEventsBetweenItsOwnOperations) {
  if (GetParam() != 1) GTEST_SKIP() << "several streams";
  Var* var = variable();
  for (int i = 0; i < 10; ++i) push_gpu([] {}, {}, {var});
  engine_->wait_for_var(var);
  EXPECT_EQ(sim_.stream_waits, 0);
}

TEST_P(EngineFences, DevicesWaitForEachOtherWithoutTheHost) {
  Var *a = variable(), *b = variable();
  std::promise<void> gate;
  std::shared_future<void> open = gate.get_future().share();
  int value = 0, seen = 0;
  push_gpu([&value, open] { open.wait(), value = 1; }, {}, {a}, 0);
  push_gpu([&] { seen = value; }, {a}, {b}, 1);
  await_launches(2);
  EXPECT_EQ(sim_.host_waits, 0);
  EXPECT_GE(sim_.stream_waits, 1);
  gate.set_value();
  engine_->wait_for_all();
  EXPECT_EQ(seen, 1);
}

TEST_P(EngineFences, AWriterComesAfterEveryReader) {
  Var *source = variable(), *left = variable(), *right = variable();
  std::promise<void> gate;
  std::shared_future<void> open = gate.get_future().share();
  int value = 1, of_left = 0, of_right = 0;
  push_gpu([&, open] { open.wait(), of_left = value; }, {source}, {left}, 0);
  push_gpu([&, open] { open.wait(), of_right = value; }, {source}, {right}, 1);
  push_gpu([&] { value = 2; }, {}, {source}, 0);
  await_launches(3);
  gate.set_value();
  engine_->wait_for_all();
  EXPECT_EQ(of_left, 1);
  EXPECT_EQ(of_right, 1);
  EXPECT_EQ(value, 2);
}

TEST_P(EngineFences, AHostOperationWaitsButItsPusherDoesNot) {
  Var *a = variable(), *b = variable();
  std::promise<void> gate;
  std::shared_future<void> open = gate.get_future().share();
  int value = 0, seen = 0;
  push_gpu([&value, open] { open.wait(), value = 5; }, {}, {a});
  await_launches(1);
  push_cpu([&] { seen = value; }, {a}, {b});  // cheap, and its variables are free
  EXPECT_EQ(seen, 0);
  gate.set_value();
  engine_->wait_to_read(b);
  EXPECT_EQ(seen, 5);
}

TEST_P(EngineFences, AnOperationThatSaysNothingIsWaitedFor) {
  Var* var = variable();
  bool done = false;
  OpSpec s;
  const Vars writes{var};
  s.writes = writes;
  s.device = Device::gpu(0);
  engine_->push(
      [&](const RunContext& context) {
        context.stream->api().host_call(0, context.stream->native(), [&] { done = true; });
      },
      s);
  engine_->wait_to_read(var);
  EXPECT_TRUE(done);
  EXPECT_EQ(sim_.host_waits, 1);
}

TEST_P(EngineFences, ABulkThatLeavesItsWorkIsNotWaitedFor) {
  Var *a = variable(), *b = variable();
  int value = 0;
  engine_->set_bulk_size(100);
  for (int i = 0; i < 10; ++i) push_gpu([&] { ++value; }, {b}, {a});
  engine_->set_bulk_size(0);
  await_launches(10);
  EXPECT_EQ(sim_.host_waits, 0);
  engine_->wait_for_var(a);
  EXPECT_EQ(value, 10);
}

TEST_P(EngineFences, AVariableEndsAfterTheWorkOnIt) {
  Var* var = engine_->new_variable();
  std::promise<void> gate;
  std::shared_future<void> open = gate.get_future().share();
  std::atomic<bool> worked{false}, ended{false};
  push_gpu([&worked, open] { open.wait(), worked = true; }, {}, {var});
  await_launches(1);
  // On the CPU: the host waits before it runs.
  engine_->delete_variable(var, {}, [&](const RunContext&) { ended = worked.load(); });
  EXPECT_FALSE(ended);
  gate.set_value();
  engine_->wait_for_all();
  EXPECT_TRUE(ended);
}

TEST_P(EngineFences, AThrowingOperationHasNoWorkLeft) {
  Var* var = variable();
  std::atomic<bool> worked{false};
  OpSpec s;
  const Vars writes{var};
  s.writes = writes;
  s.device = Device::gpu(0);
  engine_->push(
      [&](const RunContext& context) {
        engine::complete_by_event();
        context.stream->api().host_call(0, context.stream->native(), [&] { worked = true; });
        throw Error(ErrorCode::kValue, "op", "given a fault");
      },
      s);
  EXPECT_THROW(engine_->wait_for_var(var), Error);
  EXPECT_TRUE(worked);
}

// Random programs of both devices and the host give what the order of their pushes says.
TEST_P(EngineFences, RandomProgramsAgreeWithTheOrderOfPushes) {
  std::mt19937 rng(kSeed);
  constexpr int kVars = 6, kOps = 600;
  std::vector<Var*> vars;
  for (int v = 0; v < kVars; ++v) vars.push_back(variable());
  std::vector<uint64_t> expected(kVars, 1), values(kVars, 1);
  const auto pick = [&](int n) { return static_cast<int>(rng() % static_cast<unsigned>(n)); };
  for (int i = 0; i < kOps; ++i) {
    const int to = pick(kVars), from = (to + 1 + pick(kVars - 1)) % kVars;
    const auto at = [](std::vector<uint64_t>& list, int v) -> uint64_t& {
      return list[static_cast<std::size_t>(v)];
    };
    at(expected, to) = at(expected, to) * 31 + at(expected, from);
    const auto work = [&values, at, to, from] {
      at(values, to) = at(values, to) * 31 + at(values, from);
    };
    const Vars reads{vars[static_cast<std::size_t>(from)]};
    const Vars writes{vars[static_cast<std::size_t>(to)]};
    switch (pick(4)) {
      case 0:
        push_cpu(work, reads, writes, pick(2) == 0);
        break;
      case 1:
        engine_->wait_to_read(reads[0]);
        [[fallthrough]];
      default:
        push_gpu(work, reads, writes, pick(2));
    }
  }
  engine_->wait_for_all();
  EXPECT_EQ(values, expected) << "seed " << kSeed;
}

}  // namespace
}  // namespace mxnet::engine_test
