// SPDX-License-Identifier: Apache-2.0
// Owners of foreign handles: a stream or event lives as long as its object. Movable, not copyable.
#pragma once
#include <utility>

#include "device/device_api.h"

namespace mxnet {

class Stream {
 public:
  Stream(DeviceApi& api, int device, StreamPriority priority = StreamPriority::kNormal)
      : api_(&api), device_(device), native_(api.create_stream(device, priority)) {}
  ~Stream() {
    if (native_ != nullptr) api_->destroy_stream(device_, native_);
  }
  Stream(Stream&& other) noexcept
      : api_(other.api_), device_(other.device_), native_(std::exchange(other.native_, nullptr)) {}
  Stream& operator=(Stream&&) = delete;

  DeviceApi& api() const { return *api_; }
  int device() const { return device_; }
  NativeStream* native() const { return native_; }
  void synchronize() { api_->synchronize(device_, native_); }

 private:
  DeviceApi* api_;
  int device_;
  NativeStream* native_;
};

class Event {
 public:
  Event(DeviceApi& api, int device)
      : api_(&api), device_(device), native_(api.create_event(device)) {}
  ~Event() {
    if (native_ != nullptr) api_->destroy_event(device_, native_);
  }
  Event(Event&& other) noexcept
      : api_(other.api_), device_(other.device_), native_(std::exchange(other.native_, nullptr)) {}
  Event& operator=(Event&&) = delete;

  NativeEvent* native() const { return native_; }
  void record(Stream& stream) { api_->record(device_, native_, stream.native()); }
  void block(Stream& stream) { api_->wait(stream.device(), stream.native(), native_); }
  bool done() { return api_->done(device_, native_); }
  void synchronize() { api_->synchronize(device_, native_); }

 private:
  DeviceApi* api_;
  int device_;
  NativeEvent* native_;
};

}  // namespace mxnet
