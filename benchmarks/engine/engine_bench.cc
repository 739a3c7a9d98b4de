// SPDX-License-Identifier: Apache-2.0
// How many empty operations a second each engine schedules, how soon a dependent starts, what a
// wake-up and an idle engine cost; oneTBB's task_group (tasks without dependencies) beside it.
// Prints tables; asserts nothing.
//   bench_engine [operations = 500000]
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#ifdef MX_HAVE_TBB
#include <tbb/task_group.h>
#endif

#include "base/config.h"
#include "counted_new.h"
#include "engine/engine.h"
#include "patterns.h"
#include "round_trip.h"

namespace mxnet::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kRepeats = 5;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The best of kRepeats, in million operations a second, after one run to warm the pools.
template <class Run>
double best_rate(std::size_t count, Run run) {
  run();
  double best = 1e30;
  for (int i = 0; i < kRepeats; ++i) {
    const auto start = Clock::now();
    run();
    best = std::min(best, seconds_since(start));
  }
  return static_cast<double>(count) / best / 1e6;
}

const char* name_of(EngineType type) {
  switch (type) {
    case EngineType::kNaive:
      return "Naive";
    case EngineType::kThreaded:
      return "Threaded";
    default:
      return "PerDevice";
  }
}

EngineConfig config_of(EngineType type) {
  EngineConfig config;
  config.type = type;
  return config;
}

void throughput(std::size_t count) {
  std::printf("%-10s %-14s %12s %12s %12s\n", "engine", "pattern", "cheap Mop/s", "worker Mop/s",
              "prepared");
  for (EngineType type :
       {EngineType::kNaive, EngineType::kThreaded, EngineType::kThreadedPerDevice}) {
    const auto engine = make_engine(config_of(type));
    std::vector<Var*> vars;
    for (std::size_t i = 0; i < kVariables; ++i) vars.push_back(engine->new_variable());
    for (const Pattern& pattern : make_patterns(vars, count)) {
      const auto spec_of = [](const Accesses& a, bool cheap) {
        return OpSpec{.device = {},
                      .reads = {a.reads.data(), a.read_count},
                      .writes = {&a.write, 1},
                      .cheap = cheap};
      };
      const auto push_all = [&](bool cheap) {
        for (const Accesses& a : pattern.operations)
          engine->push([](const RunContext&) {}, spec_of(a, cheap));
        engine->wait_for_all();
      };
      // A plan: few operations, pushed over and over.
      std::vector<PreparedRef> plan;
      for (std::size_t i = 0; i < std::min<std::size_t>(count, 1024); ++i) {
        plan.push_back(
            engine->prepare([](const RunContext&) {}, spec_of(pattern.operations[i], true)));
      }
      const auto push_plan = [&] {
        for (std::size_t i = 0; i < count; ++i) engine->push(plan[i % plan.size()]);
        engine->wait_for_all();
      };
      std::printf("%-10s %-14s %12.2f %12.2f %12.2f\n", name_of(type), pattern.name,
                  best_rate(count, [&] { push_all(true); }),
                  best_rate(count, [&] { push_all(false); }), best_rate(count, push_plan));
      std::fflush(stdout);
    }
    for (Var* var : vars) engine->delete_variable(var, {});
  }
#ifdef MX_HAVE_TBB
  std::printf("%-10s %-14s %12s %12.2f\n", "oneTBB", "independent", "", best_rate(count, [&] {
                tbb::task_group group;
                for (std::size_t i = 0; i < count; ++i) group.run([] {});
                group.wait();
              }));
#else
  std::printf("%-10s %-14s %12s\n", "oneTBB", "independent", "not built in");
#endif
}

// Lots of a thousand pushes with a wait in between, after as many to fill the pools.
void allocations() {
  const auto engine = make_engine(config_of(EngineType::kThreadedPerDevice));
  Var* var = engine->new_variable();
  for (bool cheap : {true, false}) {
    const auto lots = [&] {
      for (int i = 0; i < 100000; ++i) {
        engine->push([](const RunContext&) {},
                     {.device = {}, .reads = {}, .writes = {&var, 1}, .cheap = cheap});
        if (i % 1000 == 0) engine->wait_for_all();
      }
      engine->wait_for_all();
    };
    lots();
    const uint64_t before = g_allocations;
    lots();
    std::printf("allocations in 100000 %s pushes: %llu\n", cheap ? "cheap" : "worker",
                static_cast<unsigned long long>(g_allocations - before));
  }
  engine->delete_variable(var, {});
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

// Two workers, both at work. The first ends an operation with two dependents: it keeps one, which
// spins until the other has started on the second worker, which has just run out of work.
double awake_handover() {
  EngineConfig config = config_of(EngineType::kThreadedPerDevice);
  config.cpu_worker_nthreads = 2;
  const auto engine = make_engine(config);
  Var* var = engine->new_variable();
  const std::span<Var* const> list(&var, 1);
  std::vector<double> nanoseconds;
  for (int i = 0; i < 5000; ++i) {
    std::atomic<int> running{0}, started{0};
    Clock::time_point ended, last;
    const auto meet = [](std::atomic<int>& count) {
      for (++count; count.load(std::memory_order_acquire) < 2;) {
      }
    };
    engine->push(
        [&](const RunContext&) {
          meet(running);
          ended = Clock::now();
        },
        {.device = {}, .reads = {}, .writes = list});
    for (int k = 0; k < 2; ++k) {
      engine->push(
          [&](const RunContext&) {
            const auto now = Clock::now();
            if (started.fetch_add(1) == 1) last = now;
            while (started.load(std::memory_order_acquire) < 2) {
            }
          },
          {.device = {}, .reads = list, .writes = {}});
    }
    engine->push([&](const RunContext&) { meet(running); }, {});
    engine->wait_for_all();
    nanoseconds.push_back(std::chrono::duration<double, std::nano>(last - ended).count());
  }
  engine->delete_variable(var, {});
  return median(nanoseconds);
}

// From the end of one operation to the start of its dependent, on the same device and from the
// CPU's workers to the priority workers; and from a push on a parked engine to the start.
void latency() {
  const auto engine = make_engine(config_of(EngineType::kThreadedPerDevice));
  Var* var = engine->new_variable();
  const auto writes = std::span<Var* const>(&var, 1);
  const auto handover = [&](FnProperty second) {
    std::vector<double> nanoseconds;
    for (int i = 0; i < 20000; ++i) {
      Clock::time_point ended, started;
      std::atomic<bool> go{false};
      engine->push(
          [&](const RunContext&) {
            while (!go.load(std::memory_order_acquire)) {
            }
            ended = Clock::now();
          },
          {.device = {}, .reads = {}, .writes = writes});
      engine->push([&](const RunContext&) { started = Clock::now(); },
                   {.device = {}, .reads = {}, .writes = writes, .property = second});
      go.store(true, std::memory_order_release);
      engine->wait_for_var(var);
      nanoseconds.push_back(std::chrono::duration<double, std::nano>(started - ended).count());
    }
    return median(nanoseconds);
  };
  std::printf("\ncompletion -> start of the dependent, same workers: %8.0f ns median\n",
              handover(FnProperty::kNormal));
  std::printf(
      "completion -> start of the dependent, other workers: %7.0f ns median (may be parked)\n",
      handover(FnProperty::kCPUPrioritized));
  std::printf("completion -> start of the dependent, awake worker: %8.0f ns median\n",
              awake_handover());
  std::vector<double> wakeups;
  for (int i = 0; i < 200; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    Clock::time_point started;
    const auto pushed = Clock::now();
    engine->push([&](const RunContext&) { started = Clock::now(); },
                 {.device = {}, .reads = {}, .writes = writes});
    engine->wait_for_var(var);
    wakeups.push_back(std::chrono::duration<double, std::nano>(started - pushed).count());
  }
  std::printf("push on a parked engine -> start: %26.0f ns median\n", median(wakeups));

  const auto cpu_seconds = [] {
    timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  };
  const double before = cpu_seconds();
  std::this_thread::sleep_for(std::chrono::seconds(2));
  std::printf("CPU use of the parked engine: %30.3f %%\n", (cpu_seconds() - before) / 2 * 100);
  engine->delete_variable(var, {});
}

}  // namespace
}  // namespace mxnet::bench

int main(int argc, char** argv) {
  const std::size_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 500000;
  const auto print_distance = [] {
    std::printf("a cache line from one processor to another and back: %.0f ns\n",
                mxnet::bench::round_trip());
  };
  print_distance();
  mxnet::bench::throughput(count);
  mxnet::bench::allocations();
  print_distance();
  mxnet::bench::latency();
  print_distance();
  return 0;
}
