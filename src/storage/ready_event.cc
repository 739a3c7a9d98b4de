// SPDX-License-Identifier: Apache-2.0
// See ready_event.h.
#include "storage/ready_event.h"

#include <exception>
#include <utility>

namespace mxnet {

ReadyEvents::~ReadyEvents() {
  SpinGuard guard(lock_);
  for (ReadyEvent* event : idle_) delete event;
}

ReadyEvent* ReadyEvents::take(DeviceApi& api, int device) {
  {
    SpinGuard guard(lock_);
    for (std::size_t i = idle_.size(); i-- > 0;) {
      if (idle_[i]->api == &api && idle_[i]->device == device) {
        ReadyEvent* event = std::exchange(idle_[i], idle_.back());
        idle_.pop_back();
        return event;
      }
    }
  }
  return new ReadyEvent(api, device);
}

ReadyEvent* ReadyEvents::record(Stream& stream) noexcept {
  ReadyEvent* event = nullptr;
  try {
    event = take(stream.api(), stream.device());
    event->event.record(stream);
    return event;
  } catch (const std::exception&) {
    delete event;
  }
  // The device refuses an event, so it is out of resources or broken. Waiting is the only safe way
  // left; if that fails too, its work has ended in failure and no longer touches the block.
  try {
    stream.synchronize();
  } catch (const std::exception&) {
  }
  return nullptr;
}

void ReadyEvents::recycle(ReadyEvent* event) noexcept {
  if (event == nullptr) return;
  try {
    SpinGuard guard(lock_);
    idle_.push_back(event);
  } catch (const std::exception&) {
    delete event;
  }
}

void ReadyEvents::await(ReadyEvent* event) noexcept {
  if (event == nullptr) return;
  try {
    event->event.synchronize();
  } catch (const std::exception&) {
  }
  recycle(event);
}

}  // namespace mxnet
