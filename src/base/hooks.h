// SPDX-License-Identifier: Apache-2.0
// Points at which an observer (the profiler, a test) may watch the machine. Off costs one
// predictable branch; the machine itself knows nothing about who watches.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/device.h"

namespace mxnet {

// What a span of time on one thread is spent on.
enum class SpanKind : uint8_t {
  kSymbolic,    // one operator of a compiled graph, inside the engine operation that runs it
  kImperative,  // one eager operator that runs outside of the engine
  kSegment,     // a bulk: operations or operators that the engine runs as one
  kCCall,       // a function of the C ABI
};

// Called on whichever thread the thing happens, possibly on many at once; must not throw, block or
// push operations.
class Observer {
 public:
  virtual ~Observer() = default;
  // An engine operation starts / has ended on this thread. `name` may be null and lives as long as
  // the process.
  virtual void operation_begin(const char* name, Device device, uint64_t sequence) = 0;
  virtual void operation_end(const char* name, Device device, uint64_t sequence) = 0;
  // The same of an operation that somebody completes later, perhaps on another thread. An end may
  // come without its begin, and a begin without its end, where the observer changes in between.
  virtual void async_begin(const char* name, Device device, uint64_t sequence) {
    operation_begin(name, device, sequence);
  }
  virtual void async_end(const char* name, Device device, uint64_t sequence) {
    operation_end(name, device, sequence);
  }
  // A span starts / has ended on this thread; spans and operations nest. `name` as above, not null.
  virtual void span_begin(SpanKind, const char* /*name*/) {}
  virtual void span_end(SpanKind, const char* /*name*/) {}
  // A pool handed out (positive) or took back (negative) `bytes`. `tag` as above.
  virtual void memory_event(Device device, const char* tag, int64_t bytes) = 0;
};

// The pointee must outlive every operation that may still see it: observers are leaked or drain the
// engine first.
inline std::atomic<Observer*> g_observer{nullptr};

// Acquire pairs with the store that publishes a fully built observer.
inline Observer* observer() { return g_observer.load(std::memory_order_acquire); }

// Tells the observer, if there is one, of its own lifetime. Off: one predictable branch.
class Span {
 public:
  Span(SpanKind kind, const char* name) : watcher_(observer()), kind_(kind), name_(name) {
    if (watcher_ != nullptr) [[unlikely]]
      watcher_->span_begin(kind_, name_);
  }
  // The one that saw the begin sees the end, whoever watches by now.
  ~Span() {
    if (watcher_ != nullptr) [[unlikely]]
      watcher_->span_end(kind_, name_);
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  Observer* const watcher_;
  const SpanKind kind_;
  const char* const name_;
};

}  // namespace mxnet
