// SPDX-License-Identifier: Apache-2.0
// A device whose memory, plain and pinned together, ends at a set capacity, and storages that stand
// on it. It works as host or as GPU; its streams do everything at once. Tests of stream order use
// the simulator instead.
#pragma once
#include <atomic>
#include <functional>
#include <limits>
#include <vector>

#include "base/error.h"
#include "base/lock.h"
#include "device/cpu/cpu_device_api.h"
#include "storage/storage.h"

namespace mxnet::testing {

// Thread-safe.
class FakeMemory final : public DeviceApi {
 public:
  explicit FakeMemory(std::size_t capacity = std::size_t{1} << 40) : capacity_(capacity) {}
  ~FakeMemory() override = default;

  std::size_t used() const { return used_; }
  std::size_t peak_used() const { return peak_; }
  uint64_t allocations() const { return allocations_; }
  void reset_peak() { peak_ = used_.load(); }
  // Memory that somebody outside takes.
  void take_away(std::size_t bytes) { used_ += bytes; }
  // Called inside each allocation, before it is decided.
  void on_allocate(std::function<void()> fn) { on_allocate_ = std::move(fn); }

  const char* name() const noexcept override { return "fake"; }
  int device_count() override { return 2; }
  DeviceProperties properties(int) override { return {}; }
  MemoryInfo memory_info(int) override { return {capacity_ - used_, capacity_}; }

  void* allocate(int, std::size_t bytes) override { return get(bytes); }
  void release(int, void* data, std::size_t bytes) noexcept override { give(data, bytes); }
  void* allocate_pinned(std::size_t bytes) override { return get(bytes); }
  void release_pinned(void* data, std::size_t bytes) noexcept override { give(data, bytes); }

  NativeStream* create_stream(int d, StreamPriority p) override {
    return host_.create_stream(d, p);
  }
  void destroy_stream(int d, NativeStream* s) noexcept override { host_.destroy_stream(d, s); }
  void synchronize(int d, NativeStream* s) override { host_.synchronize(d, s); }
  NativeEvent* create_event(int d) override { return host_.create_event(d); }
  void destroy_event(int d, NativeEvent* e) noexcept override { host_.destroy_event(d, e); }
  void record(int, NativeEvent*, NativeStream*) override {}
  void wait(int, NativeStream*, NativeEvent*) override {}
  bool done(int, NativeEvent*) override { return true; }
  void synchronize(int, NativeEvent*) override {}
  void copy(void* to, Device td, const void* from, Device fd, std::size_t n,
            NativeStream* s) override {
    host_.copy(to, td, from, fd, n, s);
  }
  void fill(int d, void* data, unsigned char v, std::size_t n, NativeStream* s) override {
    host_.fill(d, data, v, n, s);
  }
  void host_call(int d, NativeStream* s, InlineFunction<void()> fn) override {
    host_.host_call(d, s, std::move(fn));
  }
  bool can_access_peer(int, int) override { return true; }
  void enable_peer_access(int, int) override {}

 private:
  void* get(std::size_t bytes) {
    if (on_allocate_) on_allocate_();
    std::size_t used = used_;
    do {
      if (bytes > capacity_ - used) return nullptr;
    } while (!used_.compare_exchange_weak(used, used + bytes));
    std::size_t peak = peak_;
    while (used + bytes > peak && !peak_.compare_exchange_weak(peak, used + bytes)) {
    }
    ++allocations_;
    // Nobody looks at large blocks: addresses will do.
    return bytes <= kReal ? host_.allocate(0, bytes) : reinterpret_cast<void*>(next_ += bytes);
  }
  void give(void* data, std::size_t bytes) {
    if (bytes <= kReal) host_.release(0, data, bytes);
    used_ -= bytes;
  }

  static constexpr std::size_t kReal = std::size_t{1} << 20;
  const std::size_t capacity_;
  std::atomic<std::size_t> used_{0}, peak_{0};
  std::atomic<uint64_t> allocations_{0};
  std::atomic<uintptr_t> next_{uintptr_t{1} << 60};
  std::function<void()> on_allocate_;
  CpuDeviceApi host_;
};

inline Storage::DeviceResolver no_gpu(DeviceApi& host) {
  return [&host](DeviceType type) -> DeviceApi& {
    if (type == DeviceType::kGPU) throw Error(ErrorCode::kGeneric, "no GPU in this test");
    return host;
  };
}
inline Storage::DeviceResolver with_gpu(DeviceApi& host, DeviceApi& gpu) {
  return [&host, &gpu](DeviceType type) -> DeviceApi& {
    return type == DeviceType::kGPU ? gpu : host;
  };
}

// The message of the Error of that code that `call` throws; empty when it throws none.
template <class Call>
std::string error_of(ErrorCode code, const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code() == code ? error.what() : std::string();
  }
  return {};
}

}  // namespace mxnet::testing
