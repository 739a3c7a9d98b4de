// SPDX-License-Identifier: Apache-2.0
// The pool beside malloc, mimalloc and jemalloc, in one run: cost of a hit, a training step's trace
// on 1, 2 and 4 threads, and blocks that another thread frees. Prints nanoseconds a call and the
// ratio to the best peer; the best of some runs each.
//
//   bench_storage [seconds a figure, default 0.3]
#include <time.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <thread>
#include <vector>

#include "allocators.h"
#include "trace.h"

namespace mxnet::bench {
namespace {

// Processor time of the calling thread: on a machine with fewer cores than threads, or with
// neighbours, time on the wall measures the scheduler.
struct Clock {
  static double now_ns() {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
  }
};
constexpr int kRuns = 5;
double g_seconds = 0.3;

double ns_since(double start) { return Clock::now_ns() - start; }

// One thread's work: does some, returns the number of calls.
using Work = std::function<std::size_t(int thread)>;

// Nanoseconds that a call takes a thread, when `threads` do the same. Best run.
double measure(int threads, const Work& work) {
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run < kRuns; ++run) {
    std::barrier start(threads);
    std::vector<double> cost(threads);
    std::vector<std::thread> workers;
    for (int t = 0; t < threads; ++t) {
      workers.emplace_back([&, t] {
        work(t);  // warm
        start.arrive_and_wait();
        const auto begin = Clock::now_ns();
        std::size_t calls = 0;
        while (ns_since(begin) < g_seconds / kRuns * 1e9) calls += work(t);
        cost[t] = ns_since(begin) / static_cast<double>(calls);
      });
    }
    for (std::thread& worker : workers) worker.join();
    double mean = 0;
    for (const double ns : cost) mean += ns / threads;
    best = std::min(best, mean);
  }
  return best;
}

std::size_t replay(Allocator& allocator, const Trace& trace, std::vector<Block>& live) {
  for (const TraceEvent& event : trace.events) {
    if (event.bytes != 0) {
      live[event.tensor] = allocator.allocate(event.bytes);
    } else {
      allocator.release(live[event.tensor]);
    }
  }
  return trace.events.size();
}

double trace_cost(Allocator& allocator, const Trace& trace, int threads) {
  std::vector<std::vector<Block>> live(threads, std::vector<Block>(trace.tensors));
  return measure(threads, [&](int t) { return replay(allocator, trace, live[t]); });
}

double hit_cost(Allocator& allocator, std::size_t bytes, int threads) {
  return measure(threads, [&](int) {
    constexpr std::size_t kPairs = 1000;
    for (std::size_t i = 0; i < kPairs; ++i) allocator.release(allocator.allocate(bytes));
    return 2 * kPairs;
  });
}

// Allocations and frees apart: a hit is either.
std::pair<double, double> split_hit_cost(Allocator& allocator, std::size_t bytes) {
  constexpr std::size_t kBlocks = 64;
  std::vector<Block> blocks(kBlocks);
  std::pair<double, double> best{1e9, 1e9};
  const auto begin = Clock::now_ns();
  while (ns_since(begin) < g_seconds * 1e9) {
    auto start = Clock::now_ns();
    for (Block& block : blocks) block = allocator.allocate(bytes);
    best.first = std::min(best.first, ns_since(start) / kBlocks);
    start = Clock::now_ns();
    for (const Block& block : blocks) allocator.release(block);
    best.second = std::min(best.second, ns_since(start) / kBlocks);
  }
  return best;
}

// A thread allocates, another frees: bursts pass between them, so that the figure is the
// allocator's and not the queue's.
double handed_over_cost(Allocator& allocator, std::size_t bytes) {
  constexpr std::size_t kBurst = 256;
  std::vector<Block> burst[2]{std::vector<Block>(kBurst), std::vector<Block>(kBurst)};
  std::barrier swap(2);
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run < kRuns; ++run) {
    std::atomic<bool> stop{false};
    double produced_ns = 0, consumed_ns = 0;
    std::size_t bursts = 0;
    for (Block& block : burst[1]) block = allocator.allocate(bytes);
    std::thread consumer([&] {
      for (std::size_t turn = 0;; ++turn) {
        const auto start = Clock::now_ns();
        for (const Block& block : burst[(turn + 1) % 2]) allocator.release(block);
        consumed_ns += ns_since(start);
        swap.arrive_and_wait();
        if (stop) break;
        swap.arrive_and_wait();
      }
    });
    const auto begin = Clock::now_ns();
    for (std::size_t turn = 0;; ++turn) {
      const auto start = Clock::now_ns();
      for (Block& block : burst[turn % 2]) block = allocator.allocate(bytes);
      produced_ns += ns_since(start);
      ++bursts;
      stop = ns_since(begin) > g_seconds / kRuns * 1e9;
      const bool last = stop;
      swap.arrive_and_wait();
      if (last) {
        consumer.join();
        for (const Block& block : burst[turn % 2]) allocator.release(block);
        break;
      }
      swap.arrive_and_wait();
    }
    best = std::min(best, (produced_ns + consumed_ns) / static_cast<double>(2 * bursts * kBurst));
  }
  return best;
}

using Allocators = std::vector<std::unique_ptr<Allocator>>;
constexpr std::size_t kOurs = 2;  // the pool's strategies come first

void print_row(const char* what, const Allocators& allocators,
               const std::function<double(Allocator&)>& cost) {
  std::printf("%-34s", what);
  double ours = 0, best_peer = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < allocators.size(); ++i) {
    const double ns = cost(*allocators[i]);
    std::printf("%11.1f", ns);
    if (i == 0) ours = ns;
    if (i >= kOurs) best_peer = std::min(best_peer, ns);
  }
  std::printf("%11.2f\n", best_peer / ours);
  std::fflush(stdout);
}

int run() {
  const Allocators allocators = all_allocators();
  std::printf("%-34s", "nanoseconds a call");
  for (const auto& allocator : allocators) std::printf("%11s", allocator->name().c_str());
  std::printf("%11s\n", "peer/Naive");

  for (const std::size_t bytes : {std::size_t{256}, std::size_t{64} << 10, std::size_t{4} << 20}) {
    char what[64];
    for (const int threads : {1, 2, 4}) {
      std::snprintf(what, sizeof(what), "hit, %zu KiB, %d thread(s)", bytes >> 10, threads);
      print_row(what, allocators, [&](Allocator& a) { return hit_cost(a, bytes, threads); });
    }
    std::snprintf(what, sizeof(what), "allocate only, %zu KiB", bytes >> 10);
    print_row(what, allocators, [&](Allocator& a) { return split_hit_cost(a, bytes).first; });
    std::snprintf(what, sizeof(what), "free only, %zu KiB", bytes >> 10);
    print_row(what, allocators, [&](Allocator& a) { return split_hit_cost(a, bytes).second; });
    std::snprintf(what, sizeof(what), "freed by another thread, %zu KiB", bytes >> 10);
    print_row(what, allocators, [&](Allocator& a) { return handed_over_cost(a, bytes); });
  }
  for (const std::size_t shrink : {1, 256}) {
    const Trace trace = read_trace(MX_TRACE_FILE, shrink);
    for (const int threads : {1, 2, 4}) {
      char what[64];
      std::snprintf(what, sizeof(what), "ResNet-50 step%s, %d thread(s)",
                    shrink == 1 ? "" : ", sizes / 256", threads);
      print_row(what, allocators, [&](Allocator& a) { return trace_cost(a, trace, threads); });
    }
  }
  return 0;
}

}  // namespace
}  // namespace mxnet::bench

int main(int argc, char** argv) {
  if (argc > 1) mxnet::bench::g_seconds = std::atof(argv[1]);
  return mxnet::bench::run();
}
