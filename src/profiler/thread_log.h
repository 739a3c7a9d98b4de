// SPDX-License-Identifier: Apache-2.0
// What one thread records: its finished events, its part of the tables, and the spans that it is
// in.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "profiler/clock.h"
#include "profiler/event_ring.h"
#include "profiler/thread_stats.h"

namespace mxnet::profiler {

// What a span on the stack is. Those below kOperation are SpanKind's.
enum class OpenKind : uint8_t { kSymbolic, kImperative, kSegment, kCCall, kOperation };

struct OpenSpan {
  uint64_t start = 0;
  uint64_t sequence = 0;  // of an operation
  const char* name = nullptr;
  Device device{};
  OpenKind kind = OpenKind::kOperation;
  bool graph = false;           // an operator of a compiled graph ran inside
  uint32_t operators = 0;       // spans of operators directly inside
  const char* first = nullptr;  // the first one's name
};

// Used by its thread alone, but for the ring's and the statistics' readers and `vacant`.
struct ThreadLog {
  explicit ThreadLog(std::size_t capacity) : ring(capacity) {}

  // Time stamps of one thread differ by at least a nanosecond once they are printed, so that the
  // order of a trace's begins and ends is that of their times.
  uint64_t stamp() {
    constexpr uint64_t kTicksPerNs = 8;  // more than any processor's counter does
    last_stamp = std::max(Clock::now(), last_stamp + kTicksPerNs);
    return last_stamp;
  }

  // Null if the stack is full: then only the depth is counted.
  OpenSpan* open() {
    const std::size_t at = depth++;
    return at < stack.size() ? &stack[at] : nullptr;
  }
  OpenSpan* top() { return depth > 0 && depth <= stack.size() ? &stack[depth - 1] : nullptr; }
  // The innermost such span. What is above it never ended: its thread was cancelled inside.
  std::size_t find(OpenKind kind, const char* name, uint64_t sequence) const {
    for (std::size_t i = depth; i-- > 0;) {
      const OpenSpan& span = stack[i];
      if (span.kind == kind && span.sequence == sequence && span.name == name) return i;
    }
    return kNone;
  }
  static constexpr std::size_t kNone = ~std::size_t{0};

  EventRing ring;
  ThreadStats stats;
  std::array<OpenSpan, 64> stack;  // four times what the engine nests
  std::size_t depth = 0;
  uint64_t last_stamp = 0;
  uint32_t thread = 0;  // the kernel's number
  // Its thread has ended, the next new one may have it. Release when a thread leaves, acquire when
  // the next takes over: the new writer goes on where the old one stopped.
  std::atomic<bool> vacant{false};
};

}  // namespace mxnet::profiler
