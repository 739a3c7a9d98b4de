// SPDX-License-Identifier: Apache-2.0
// Time stamps that are cheap enough to take twice an event: the processor's counter where it is one
// clock for all cores, else the system's monotonic clock.
#pragma once
#include <cstdint>

#include "base/tick_counter.h"

namespace mxnet::profiler {

// Stateless but for the choice, made once; thread-safe.
class Clock {
 public:
  // Ticks of a steady clock whose rate TickScale measures.
  static uint64_t now() {
    if (is_counter()) [[likely]]
      return read_tick_counter();
    return system_nanoseconds();
  }
  static uint64_t system_nanoseconds();
  // Whether now() reads the processor's counter.
  static bool is_counter() {
    static const bool counter = tick_counter_is_clock();
    return counter;
  }
};

// Turns ticks into nanoseconds since an origin. Measured once and then kept: were it refined later,
// events of one trace would shift against each other.
class TickScale {
 public:
  // The origin is now.
  TickScale();
  // Ensures that the rate is known: waits until the origin is long enough ago to measure it (10 ms,
  // an error of about 1e-5). Later calls do nothing.
  void settle();
  // REQUIRES: settle(). Ticks before the origin give 0.
  uint64_t nanoseconds(uint64_t ticks) const {
    return ticks <= origin_ ? 0 : duration(ticks - origin_);
  }
  uint64_t duration(uint64_t ticks) const {
    return static_cast<uint64_t>(static_cast<double>(ticks) * nanoseconds_per_tick_);
  }
  // Microseconds between the epoch and the origin.
  int64_t origin_epoch_us() const { return epoch_us_; }

 private:
  uint64_t origin_, origin_ns_;
  int64_t epoch_us_;
  double nanoseconds_per_tick_ = 0;
};

}  // namespace mxnet::profiler
