// SPDX-License-Identifier: Apache-2.0
// The host as a device: work runs at once on the caller's thread, so a stream only remembers the
// first error of its work until somebody synchronizes. Serves every host kind, and any ordinal:
// cpu(7) is the one CPU.
#pragma once
#include "device/device_api.h"

namespace mxnet {

// Thread-safe, stateless but for the streams.
class CpuDeviceApi final : public DeviceApi {
 public:
  const char* name() const noexcept override { return "cpu"; }
  int device_count() override { return 1; }
  DeviceProperties properties(int device) override;
  MemoryInfo memory_info(int device) override;

  void* allocate(int device, std::size_t bytes) override;
  void release(int device, void* data, std::size_t bytes) noexcept override;
  void* allocate_pinned(std::size_t bytes) override;
  void release_pinned(void* data, std::size_t bytes) noexcept override;

  // A null stream is accepted: errors of its work are thrown at once.
  NativeStream* create_stream(int device, StreamPriority priority) override;
  void destroy_stream(int device, NativeStream* stream) noexcept override;
  void synchronize(int device, NativeStream* stream) override;

  NativeEvent* create_event(int device) override;
  void destroy_event(int device, NativeEvent* event) noexcept override;
  void record(int device, NativeEvent* event, NativeStream* stream) override;
  void wait(int device, NativeStream* stream, NativeEvent* event) override;
  bool done(int device, NativeEvent* event) override;
  void synchronize(int device, NativeEvent* event) override;

  void copy(void* to_data, Device to, const void* from_data, Device from, std::size_t bytes,
            NativeStream* stream) override;
  void fill(int device, void* data, unsigned char value, std::size_t bytes,
            NativeStream* stream) override;
  void host_call(int device, NativeStream* stream, InlineFunction<void()> fn) override;

  bool can_access_peer(int device, int peer) override;
  void enable_peer_access(int device, int peer) override;
};

}  // namespace mxnet
