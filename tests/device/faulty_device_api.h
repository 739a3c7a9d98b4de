// SPDX-License-Identifier: Apache-2.0
// A DeviceApi that passes everything on to another one and fails, delays and counts as a test tells
// it. For tests of whatever stands on devices: pools, engine, arrays. Install it with
// DeviceApiOverride (device/device_registry.h) to reach code that asks device_api().
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <thread>

#include "base/error.h"
#include "base/lock.h"
#include "device/device_api.h"

namespace mxnet::testing {

// Thread-safe, as every DeviceApi. Faults may be set while it is in use.
class FaultyDeviceApi final : public DeviceApi {
 public:
  static constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

  struct Counters {
    uint64_t allocations = 0, releases = 0, failed_allocations = 0;  // of device memory
    uint64_t pinned_allocations = 0, pinned_releases = 0, failed_pinned_allocations = 0;
    uint64_t copies = 0, copied_bytes = 0, fills = 0, host_calls = 0;
    uint64_t streams_created = 0, streams_destroyed = 0, synchronizes = 0;
    uint64_t events_created = 0, events_destroyed = 0, records = 0, waits = 0;
    std::size_t live_bytes = 0, peak_bytes = 0, live_blocks = 0;  // device memory, all devices
    std::size_t live_pinned_bytes = 0;
    uint64_t wrong_releases = 0;  // of what is not allocated, or with other bytes; not passed on
  };

  explicit FaultyDeviceApi(DeviceApi& target) : target_(target) {}

  // Each device then has room for `bytes` in all: allocations beyond give null, and memory_info
  // says so.
  void set_capacity(std::size_t bytes) {
    MutexLock lock(mutex_);
    capacity_ = bytes;
  }
  void set_pinned_capacity(std::size_t bytes) {
    MutexLock lock(mutex_);
    pinned_capacity_ = bytes;
  }
  // After `skip` more allocations, the next `count` give null.
  void fail_allocations(int64_t skip, int64_t count = 1) {
    MutexLock lock(mutex_);
    skip_allocations_ = skip;
    bad_allocations_ = count;
  }
  // After `skip` more copies, the next `count` throw Error(kGeneric) from copy().
  void fail_copies(int64_t skip, int64_t count = 1) {
    MutexLock lock(mutex_);
    skip_copies_ = skip;
    bad_copies_ = count;
  }
  // Every copy holds its stream for that long first.
  void set_copy_delay(std::chrono::microseconds delay) { copy_delay_us_ = delay.count(); }
  // Streams are reported as these many devices' own: lets a one-device target stand in for several.
  void set_device_count(int count) { device_count_ = count; }

  Counters counters() const {
    MutexLock lock(mutex_);
    return counters_;
  }

  const char* name() const noexcept override { return "faulty"; }
  int device_count() override {
    return device_count_ != 0 ? device_count_.load() : target_.device_count();
  }
  DeviceProperties properties(int device) override {
    DeviceProperties result = target_.properties(device);
    MutexLock lock(mutex_);
    if (capacity_ != kUnlimited) result.total_memory = capacity_;
    return result;
  }
  MemoryInfo memory_info(int device) override {
    MemoryInfo info = target_.memory_info(device);
    MutexLock lock(mutex_);
    if (capacity_ != kUnlimited) {
      const std::size_t used = live_on_[device];
      info = {capacity_ > used ? capacity_ - used : 0, capacity_};
    }
    return info;
  }

  void* allocate(int device, std::size_t bytes) override {
    {
      MutexLock lock(mutex_);
      if (unlucky(skip_allocations_, bad_allocations_) ||
          !fits(live_on_[device], bytes, capacity_)) {
        ++counters_.failed_allocations;
        return nullptr;
      }
      live_on_[device] += bytes;  // reserved before the target is asked: capacity is never exceeded
    }
    void* data = target_.allocate(device, bytes);
    MutexLock lock(mutex_);
    if (data == nullptr) {
      live_on_[device] -= bytes;
      ++counters_.failed_allocations;
      return nullptr;
    }
    blocks_[data] = bytes;
    ++counters_.allocations;
    ++counters_.live_blocks;
    counters_.live_bytes += bytes;
    counters_.peak_bytes = std::max(counters_.peak_bytes, counters_.live_bytes);
    return data;
  }
  void release(int device, void* data, std::size_t bytes) noexcept override {
    if (data == nullptr) return;
    {
      MutexLock lock(mutex_);
      const auto block = blocks_.find(data);
      if (block == blocks_.end() || block->second != bytes) {
        ++counters_.wrong_releases;
        return;
      }
      blocks_.erase(block);
      live_on_[device] -= bytes;
      ++counters_.releases;
      --counters_.live_blocks;
      counters_.live_bytes -= bytes;
    }
    target_.release(device, data, bytes);
  }
  void* allocate_pinned(std::size_t bytes) override {
    {
      MutexLock lock(mutex_);
      if (!fits(counters_.live_pinned_bytes, bytes, pinned_capacity_)) {
        ++counters_.failed_pinned_allocations;
        return nullptr;
      }
      counters_.live_pinned_bytes += bytes;
    }
    void* data = target_.allocate_pinned(bytes);
    MutexLock lock(mutex_);
    if (data == nullptr) {
      counters_.live_pinned_bytes -= bytes;
      ++counters_.failed_pinned_allocations;
    } else {
      ++counters_.pinned_allocations;
    }
    return data;
  }
  void release_pinned(void* data, std::size_t bytes) noexcept override {
    if (data == nullptr) return;
    {
      MutexLock lock(mutex_);
      counters_.live_pinned_bytes -= bytes;
      ++counters_.pinned_releases;
    }
    target_.release_pinned(data, bytes);
  }

  NativeStream* create_stream(int device, StreamPriority priority) override {
    count(&Counters::streams_created);
    return target_.create_stream(device, priority);
  }
  void destroy_stream(int device, NativeStream* stream) noexcept override {
    count(&Counters::streams_destroyed);
    target_.destroy_stream(device, stream);
  }
  void synchronize(int device, NativeStream* stream) override {
    count(&Counters::synchronizes);
    target_.synchronize(device, stream);
  }

  NativeEvent* create_event(int device) override {
    count(&Counters::events_created);
    return target_.create_event(device);
  }
  void destroy_event(int device, NativeEvent* event) noexcept override {
    count(&Counters::events_destroyed);
    target_.destroy_event(device, event);
  }
  void record(int device, NativeEvent* event, NativeStream* stream) override {
    count(&Counters::records);
    target_.record(device, event, stream);
  }
  void wait(int device, NativeStream* stream, NativeEvent* event) override {
    count(&Counters::waits);
    target_.wait(device, stream, event);
  }
  bool done(int device, NativeEvent* event) override { return target_.done(device, event); }
  void synchronize(int device, NativeEvent* event) override { target_.synchronize(device, event); }

  void copy(void* to_data, Device to, const void* from_data, Device from, std::size_t bytes,
            NativeStream* stream) override {
    {
      MutexLock lock(mutex_);
      if (unlucky(skip_copies_, bad_copies_)) {
        throw Error(ErrorCode::kGeneric, name(), "injected failure of a copy");
      }
      ++counters_.copies;
      counters_.copied_bytes += bytes;
    }
    if (const int64_t delay = copy_delay_us_; delay != 0) {
      const int device = to.is_gpu() ? to.id : from.id;
      target_.host_call(device, stream,
                        [delay] { std::this_thread::sleep_for(std::chrono::microseconds(delay)); });
    }
    target_.copy(to_data, to, from_data, from, bytes, stream);
  }
  void fill(int device, void* data, unsigned char value, std::size_t bytes,
            NativeStream* stream) override {
    count(&Counters::fills);
    target_.fill(device, data, value, bytes, stream);
  }
  void host_call(int device, NativeStream* stream, InlineFunction<void()> fn) override {
    count(&Counters::host_calls);
    target_.host_call(device, stream, std::move(fn));
  }

  bool can_access_peer(int device, int peer) override {
    return target_.can_access_peer(device, peer);
  }
  void enable_peer_access(int device, int peer) override {
    target_.enable_peer_access(device, peer);
  }

 private:
  static bool fits(std::size_t used, std::size_t bytes, std::size_t capacity) {
    return used <= capacity && bytes <= capacity - used;
  }
  bool unlucky(int64_t& skip, int64_t& bad) MX_REQUIRES(mutex_) {
    if (bad == 0 || skip-- > 0) return false;
    skip = 0;
    --bad;
    return true;
  }
  void count(uint64_t Counters::*counter) {
    MutexLock lock(mutex_);
    ++(counters_.*counter);
  }

  DeviceApi& target_;
  std::atomic<int64_t> copy_delay_us_{0};
  std::atomic<int> device_count_{0};
  mutable Mutex mutex_;  // never held while the target works
  Counters counters_ MX_GUARDED_BY(mutex_);
  std::map<void*, std::size_t> blocks_ MX_GUARDED_BY(mutex_);
  std::map<int, std::size_t> live_on_ MX_GUARDED_BY(mutex_);
  std::size_t capacity_ MX_GUARDED_BY(mutex_) = kUnlimited;
  std::size_t pinned_capacity_ MX_GUARDED_BY(mutex_) = kUnlimited;
  int64_t skip_allocations_ MX_GUARDED_BY(mutex_) = 0, bad_allocations_ MX_GUARDED_BY(mutex_) = 0;
  int64_t skip_copies_ MX_GUARDED_BY(mutex_) = 0, bad_copies_ MX_GUARDED_BY(mutex_) = 0;
};

}  // namespace mxnet::testing
