// SPDX-License-Identifier: Apache-2.0
// Marks the moment on a stream after which a released block is free for everybody. Creating an
// event costs far more than recording one, so they are kept.
#pragma once
#include <vector>

#include "base/spin_lock.h"
#include "device/stream.h"

namespace mxnet {

// Not thread-safe; in the hands of one cached block at a time.
struct ReadyEvent {
  ReadyEvent(DeviceApi& on_api, int on_device)
      : event(on_api, on_device), api(&on_api), device(on_device) {}

  Event event;
  DeviceApi* api;
  int device;
};

// Thread-safe. Events of all devices that a pool meets; only pinned memory meets more than one.
class ReadyEvents {
 public:
  ReadyEvents() = default;
  ~ReadyEvents();
  ReadyEvents(const ReadyEvents&) = delete;
  ReadyEvents& operator=(const ReadyEvents&) = delete;

  // Records an event on `stream`. Null when the device cannot: then its work has been waited for.
  ReadyEvent* record(Stream& stream) noexcept;
  void recycle(ReadyEvent* event) noexcept;  // null is fine
  // Blocks until the event has happened, then recycles it. An error of the stream's work is not
  // lost: whoever waits for that work sees it.
  void await(ReadyEvent* event) noexcept;

  // So that a forked child does not inherit it half changed.
  void lock_for_fork() MX_ACQUIRE(lock_) { lock_.lock(); }
  void unlock_for_fork() MX_RELEASE(lock_) { lock_.unlock(); }

 private:
  ReadyEvent* take(DeviceApi& api, int device);

  SpinLock lock_;
  std::vector<ReadyEvent*> idle_ MX_GUARDED_BY(lock_);
};

}  // namespace mxnet
