// SPDX-License-Identifier: Apache-2.0
// Operations on a (simulated) accelerator: they get a stream, end when the stream has done their
// work, and fail with it.

#include <future>
#include <latch>
#include <set>
#include <thread>
#include <vector>

#include "base/config.h"
#include "base/error.h"
#include "device/device_registry.h"
#include "device/graph_capture.h"
#include "device/sim/sim_device_api.h"
#include "fixture.h"

namespace mxnet::engine_test {
namespace {

class EngineGpu : public EveryEngine {
 protected:
  static DeviceConfig one_gpu() {
    DeviceConfig config;
    config.sim_gpus = 1;
    return config;
  }
  // Enqueues `work` on the operation's stream, as a kernel would be.
  void push_gpu(std::function<void()> work, const Vars& reads, const Vars& writes,
                FnProperty property = FnProperty::kNormal) {
    OpSpec s = spec(reads, writes, "kernel");
    s.device = Device::gpu(0);
    s.property = property;
    s.cheap = true;  // must not matter: the pusher's thread has no stream
    engine->push(
        [work](const RunContext& context) {
          ASSERT_NE(context.stream, nullptr);
          EXPECT_EQ(context.device, Device::gpu(0));
          context.stream->api().host_call(0, context.stream->native(), work);
        },
        s);
  }
  ~EngineGpu() override { engine.reset(); }  // its streams go before the simulator

  Var* gpu_variable() { return engine->new_variable(); }

 private:
  SimDeviceApi sim_{one_gpu()};
  DeviceApiOverride override_{DeviceType::kGPU, sim_};
};
INSTANTIATE_TEST_SUITE_P(All, EngineGpu,
                         testing::Values(Kind{EngineType::kNaive, 1, false},
                                         Kind{EngineType::kThreaded, 2, false},
                                         Kind{EngineType::kThreadedPerDevice, 2, false}),
                         kind_name);

// Where operations run on the threads that push them.
class EngineGpuOfCallers : public EngineGpu {};
INSTANTIATE_TEST_SUITE_P(All, EngineGpuOfCallers,
                         testing::Values(Kind{EngineType::kNaive, 1, false}), kind_name);

TEST_P(EngineGpuOfCallers, WhatOneThreadRecordsHasNoWorkOfAnother) {
  bool recorded = false, done = false;
  Var *a = gpu_variable(), *b = gpu_variable();
  const Vars writes{a};
  OpSpec s = spec({}, writes, "recording");
  s.device = Device::gpu(0);
  engine->push(
      [&](const RunContext& context) {
        Stream& stream = *context.stream;
        GraphCapture& capture = *graph_capture(stream.api());
        capture.begin_capture(0, stream.native());
        stream.api().host_call(0, stream.native(), [&] { recorded = true; });
        std::thread([&] { push_gpu([&] { done = true; }, {}, {b}); }).join();
        EXPECT_TRUE(done);  // at once, as the engine's operations are
        const DeviceGraph graph(capture, 0, capture.end_capture(0, stream.native()));
        EXPECT_EQ(graph.nodes(), 1u);
      },
      s);
  engine->wait_for_all();
  EXPECT_FALSE(recorded);
}

TEST_P(EngineGpuOfCallers, ThereAreAsManyStreamsAsAreInUseAtOnce) {
  std::set<NativeStream*> seen;
  std::latch end(1);
  std::vector<std::thread> threads;
  for (int i = 0; i < 5; ++i) {
    std::promise<void> done;
    threads.emplace_back([&] {
      OpSpec s = spec({}, {}, "kernel");
      s.device = Device::gpu(0);
      engine->push([&](const RunContext& context) { seen.insert(context.stream->native()); }, s);
      done.set_value();
      end.wait();
    });
    done.get_future().wait();
  }
  end.count_down();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(seen.size(), 1u);
}

TEST_P(EngineGpu, EndWhenTheStreamHasDoneTheirWork) {
  Var *a = gpu_variable(), *b = gpu_variable();
  int value = 0, copied = 0;
  for (int i = 0; i < 50; ++i) push_gpu([&] { ++value; }, {}, {a});
  push_gpu([&] { copied = value; }, {a}, {b}, FnProperty::kCopyFromGPU);
  int seen = 0;
  const Vars reads{b};
  engine->push(
      [&](const RunContext& context) {
        EXPECT_EQ(context.stream, nullptr);
        seen = copied;
      },
      spec(reads, {}));
  engine->wait_for_all();
  EXPECT_EQ(seen, 50);
  engine->delete_variable(a, Device::gpu(0),
                          [](const RunContext& context) { EXPECT_NE(context.stream, nullptr); });
  engine->delete_variable(b, Device::gpu(0));
  engine->wait_for_all();
}

TEST_P(EngineGpu, AMissingGpuIsAnErrorOfTheOperation) {
  Var* var = gpu_variable();
  OpSpec s;
  const Vars writes{var};
  s.writes = writes;
  s.device = Device::gpu(5);
  engine->push([](const RunContext&) { FAIL() << "ran"; }, s);
  EXPECT_THROW(engine->wait_for_var(var), Error);
  engine->delete_variable(var, {});
}

TEST_P(EngineGpu, ABulkSynchronisesOnceAndRunsInOrder) {
  Var* var = gpu_variable();
  engine->set_bulk_size(100);
  std::vector<int> order;
  for (int i = 0; i < 10; ++i) push_gpu([&order, i] { order.push_back(i); }, {}, {var});
  engine->set_bulk_size(0);
  engine->wait_for_var(var);
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  engine->delete_variable(var, {});
}

}  // namespace
}  // namespace mxnet::engine_test
