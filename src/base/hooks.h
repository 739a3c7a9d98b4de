// SPDX-License-Identifier: Apache-2.0
// Points at which an observer (the profiler, a test) may watch the machine. Off costs one
// predictable branch; the machine itself knows nothing about who watches.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/device.h"

namespace mxnet {

// Called on whichever thread the thing happens, possibly on many at once; must not throw, block or
// push operations.
class Observer {
 public:
  virtual ~Observer() = default;
  // An engine operation starts / has ended on this thread. `name` may be null and lives as long as
  // the process.
  virtual void operation_begin(const char* name, Device device, uint64_t sequence) = 0;
  virtual void operation_end(const char* name, Device device, uint64_t sequence) = 0;
  // A pool handed out (positive) or took back (negative) `bytes`. `tag` as above.
  virtual void memory_event(Device device, const char* tag, int64_t bytes) = 0;
};

// The pointee must outlive every operation that may still see it: observers are leaked or drain the
// engine first.
inline std::atomic<Observer*> g_observer{nullptr};

// Acquire pairs with the store that publishes a fully built observer.
inline Observer* observer() { return g_observer.load(std::memory_order_acquire); }

}  // namespace mxnet
