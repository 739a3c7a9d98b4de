// SPDX-License-Identifier: Apache-2.0
// What programs make to mark their own work: domains, and in them tasks, frames, events, counters
// and markers.
#pragma once
#include <atomic>
#include <cstdint>
#include <string_view>

#include "profiler/profiler.h"

namespace mxnet::profiler {

// A name under which others are grouped. Immutable.
class Domain {
 public:
  explicit Domain(std::string_view name);
  const char* name() const { return name_; }

 private:
  const char* const name_;  // interned
};

// A task, a frame or an event: lasts from start to stop, which may be on different threads.
// Thread-safe; of two starts the later counts.
class Duration {
 public:
  // `kind`: kTask or kFrame, in `domain`; or kUserEvent, without one.
  Duration(Profiler& profiler, EventKind kind, const Domain* domain, std::string_view name);
  void start();
  // Records it, if the profiler runs and it was started.
  void stop();

 private:
  Profiler& profiler_;
  const EventKind kind_;
  const char* const domain_;
  const char* const name_;
  std::atomic<uint64_t> started_{0};
};

// A number over time. Thread-safe. Counts whether the profiler runs or not.
class Counter {
 public:
  Counter(Profiler& profiler, const Domain& domain, std::string_view name);
  void set(int64_t value);
  void adjust(int64_t by);

 private:
  void record(int64_t value);

  Profiler& profiler_;
  const char* const domain_;
  const char* const name_;
  std::atomic<int64_t> value_{0};
};

// An instant, seen by what `scope` says: 'g'lobal, 'p'rocess or 't'hread.
void set_marker(Profiler& profiler, const Domain& domain, std::string_view name, char scope);

}  // namespace mxnet::profiler
