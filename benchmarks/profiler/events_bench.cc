// SPDX-License-Identifier: Apache-2.0
// Cost of an event. "span" is the hook alone, around a multiplication; "operation" is the same
// inside of an engine operation that runs at once, where the hooks and the engine's own work meet.
// The argument is the profiler's mode: -1 = no observer at all, 0 = the hooks called and filtered,
// 15 = everything is recorded, 16 = with aggregate tables.
#include <benchmark/benchmark.h>

#include "base/hooks.h"
#include "engine/engine.h"
#include "profiler/recorder.h"

namespace mxnet {
namespace {

constexpr int kNobody = -1;
constexpr int kWithTables = 16;

class Watched {
 public:
  explicit Watched(int64_t mode) {
    if (mode == kNobody) return;
    static profiler::Recorder recorder(1 << 14);  // leaked to the hooks for the process's life
    recorder.set_mode(mode == kWithTables ? profiler::kModeAll : static_cast<unsigned>(mode));
    recorder.set_aggregate(mode == kWithTables);
    g_observer.store(&recorder, std::memory_order_release);
  }
  ~Watched() {
    Engine::get().wait_for_all();
    g_observer.store(nullptr, std::memory_order_release);
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
};

// What a span is put around; the result goes into the next one.
double work(double x) { return x * 1.0000001; }

void nothing_around(benchmark::State& state) {
  double x = 1;
  for (auto _ : state) benchmark::DoNotOptimize(x = work(x));
}
BENCHMARK(nothing_around);

void span(benchmark::State& state) {
  const Watched watched(state.range(0));
  double x = 1;
  for (auto _ : state) {
    const Span around(SpanKind::kSymbolic, "work");
    benchmark::DoNotOptimize(x = work(x));
  }
}
BENCHMARK(span)->Arg(kNobody)->Arg(0)->Arg(profiler::kModeAll)->Arg(kWithTables);

void operation(benchmark::State& state) {
  const Watched watched(state.range(0));
  Engine& engine = Engine::get();
  Var* const variable = engine.new_variable();
  Var* const writes[] = {variable};
  double x = 1;
  for (auto _ : state) {
    engine.push([&x](const RunContext&) { x = work(x); }, {.device = Device::cpu(),
                                                           .reads = {},
                                                           .writes = writes,
                                                           .property = FnProperty::kNormal,
                                                           .priority = 0,
                                                           .name = "work",
                                                           .cheap = true,
                                                           .temp_bytes = 0});
  }
  engine.wait_for_all();
  engine.delete_variable(variable, Device::cpu());
}
BENCHMARK(operation)->Arg(kNobody)->Arg(0)->Arg(profiler::kModeAll)->Arg(kWithTables);

}  // namespace
}  // namespace mxnet

BENCHMARK_MAIN();
