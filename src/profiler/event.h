// SPDX-License-Identifier: Apache-2.0
// What is kept of one thing that happened: five words, complete when they are written, so that a
// begin is never without its end.
#pragma once
#include <cstdint>

#include "base/device.h"

namespace mxnet::profiler {

enum class EventKind : uint8_t {
  kOperator,  // an engine operation or one operator inside of it
  kSegment,   // an engine operation that consists of operators, a bulk
  kAsync,     // an operation that ended later than its function
  kCCall,
  kMemory,  // value: bytes in use on the device from now on
  kTask,
  kFrame,
  kUserEvent,
  kCounter,  // value: the counter's, from now on
  kMarker,   // value: the scope's letter
};

// Whether it lasts, and `value` is its length in ticks.
constexpr bool has_duration(EventKind kind) {
  return kind != EventKind::kMemory && kind != EventKind::kCounter && kind != EventKind::kMarker;
}

struct Event {
  uint64_t start = 0;  // ticks, see clock.h
  uint64_t value = 0;
  const char* name = nullptr;    // lives as long as the process, as all names here
  const char* domain = nullptr;  // of what users make; else null
  EventKind kind = EventKind::kOperator;
  Device device{};
  uint32_t thread = 0;  // the kernel's number
};

}  // namespace mxnet::profiler
