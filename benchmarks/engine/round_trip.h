// SPDX-License-Identifier: Apache-2.0
// How far apart the processors are on which the benchmark runs: the time of a cache line from one
// to the other and back. Virtual machines move their processors about, and every figure that
// involves two threads follows.
#pragma once
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "base/cpu_relax.h"

namespace mxnet::bench {

// The first two processors that the process may use, one for each thread.
inline void pin_to(int which) {
  cpu_set_t allowed, one;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed) && which-- == 0) CPU_SET(cpu, &one);
  }
  if (CPU_COUNT(&one) == 1) pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
}

// In nanoseconds; the best of a few, so that what else runs does not count.
inline double round_trip() {
  constexpr int kTrips = 2000, kRepeats = 20;
  std::atomic<int> ball{0};
  double best = 1e30;
  std::thread other([&] {
    pin_to(1);
    for (int i = 0; i < kTrips * kRepeats; ++i) {
      while (ball.load(std::memory_order_acquire) != 2 * i + 1) cpu_relax();
      ball.store(2 * i + 2, std::memory_order_release);
    }
  });
  std::thread one([&] {
    pin_to(0);
    for (int repeat = 0, i = 0; repeat < kRepeats; ++repeat) {
      const auto start = std::chrono::steady_clock::now();
      for (int trip = 0; trip < kTrips; ++trip, ++i) {
        ball.store(2 * i + 1, std::memory_order_release);
        while (ball.load(std::memory_order_acquire) != 2 * i + 2) cpu_relax();
      }
      const std::chrono::duration<double, std::nano> time =
          std::chrono::steady_clock::now() - start;
      best = std::min(best, time.count() / kTrips);
    }
  });
  one.join();
  other.join();
  return best;
}

}  // namespace mxnet::bench
