// SPDX-License-Identifier: Apache-2.0
// Measuring the rate of the clock.
#include "profiler/clock.h"

#include <time.h>

#include <chrono>
#include <thread>

namespace mxnet::profiler {
namespace {

constexpr uint64_t kMeasuredNs = 10'000'000;

}  // namespace

uint64_t Clock::system_nanoseconds() {
  timespec t;
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
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
