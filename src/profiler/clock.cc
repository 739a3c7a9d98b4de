// SPDX-License-Identifier: Apache-2.0
// Choosing the clock and measuring its rate.
#include "profiler/clock.h"

#include <time.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace mxnet::profiler {
namespace {

constexpr uint64_t kMeasuredNs = 10'000'000;

// The counter ticks at one rate in all power states, says the processor.
bool counter_is_invariant() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1U << 8)) != 0;
#else
  return false;
#endif
}

// The counters of all cores agree, says the kernel, which gives up on them otherwise.
bool kernel_trusts_counter() {
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string name;
  return static_cast<bool>(file >> name) && name == "tsc";
}

}  // namespace

uint64_t Clock::system_nanoseconds() {
  timespec t;
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

Clock::Kind Clock::choose() {
  return counter_is_invariant() && kernel_trusts_counter() ? Kind::kCounter : Kind::kSystem;
}

TickScale::TickScale()
    : origin_(Clock::now()),
      origin_ns_(Clock::system_nanoseconds()),
      epoch_us_(std::chrono::duration_cast<std::chrono::microseconds>(
                    std::chrono::system_clock::now().time_since_epoch())
                    .count()) {
  if (!Clock::is_counter()) nanoseconds_per_tick_ = 1;
}

void TickScale::settle() {
  if (nanoseconds_per_tick_ != 0) return;
  const uint64_t elapsed = Clock::system_nanoseconds() - origin_ns_;
  if (elapsed < kMeasuredNs) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(kMeasuredNs - elapsed));
  }
  const uint64_t ticks = Clock::now(), ns = Clock::system_nanoseconds();
  nanoseconds_per_tick_ =
      static_cast<double>(ns - origin_ns_) / static_cast<double>(ticks - origin_);
}

}  // namespace mxnet::profiler
