// SPDX-License-Identifier: Apache-2.0
// What the core asks of a kind of device: raw memory, streams, events, copies. One implementation a
// kind (cpu, sim, the CUDA plug-in); tests wrap one to inject failures and delays. Everything above
// this file is device-neutral.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/device.h"
#include "base/export.h"
#include "base/inline_function.h"

namespace mxnet {

struct DeviceProperties {
  std::string name;
  std::size_t total_memory = 0;  // bytes
  int compute_major = 0, compute_minor = 0;
  int multiprocessors = 0;
  int numa_node = -1;  // -1 = unknown
};

struct MemoryInfo {
  std::size_t free = 0;   // bytes that an allocation could still get
  std::size_t total = 0;  // bytes
};

enum class StreamPriority : uint8_t { kNormal, kHigh };

// Foreign handles: meaningful only to the api that made them; owned through Stream and Event
// (stream.h).
struct NativeStream;
struct NativeEvent;

// Thread-safe: every call may come from any thread. Unless it says otherwise, a call that cannot be
// done throws Error naming the api, the device and the library's reason.
//
// Streams: work put on one stream runs in order; streams among each other run in any order unless
// joined by events. Errors of work already on a stream surface at the next synchronize of that
// stream, once.
class MX_PLUGIN_API DeviceApi {
 public:
  virtual ~DeviceApi();

  virtual const char* name() const noexcept = 0;  // "cpu", "sim", "cuda"
  virtual int device_count() = 0;
  // REQUIRES (here and below): 0 <= device < device_count(), else Error(kValue).
  virtual DeviceProperties properties(int device) = 0;
  virtual MemoryInfo memory_info(int device) = 0;

  // Device memory, aligned to at least 64 bytes (256 on accelerators). Null when out of memory,
  // never an exception for that: pools flush and retry, and they alone know enough to write the
  // error.
  virtual void* allocate(int device, std::size_t bytes) = 0;
  // Waits for the work that the device has been given so far, so that none of it finds the memory
  // gone. Null is fine.
  virtual void release(int device, void* data, std::size_t bytes) noexcept = 0;
  // Host memory that this kind of device copies from and to asynchronously. Null when out of
  // memory.
  virtual void* allocate_pinned(std::size_t bytes) = 0;
  virtual void release_pinned(void* data, std::size_t bytes) noexcept = 0;

  virtual NativeStream* create_stream(int device, StreamPriority priority) = 0;
  virtual void destroy_stream(int device, NativeStream* stream) noexcept = 0;  // waits for its work
  virtual void synchronize(int device, NativeStream* stream) = 0;

  virtual NativeEvent* create_event(int device) = 0;
  virtual void destroy_event(int device, NativeEvent* event) noexcept = 0;
  virtual void record(int device, NativeEvent* event, NativeStream* stream) = 0;
  // Later work on `stream` waits for the last record of `event` (of any device of this api); the
  // host does not.
  virtual void wait(int device, NativeStream* stream, NativeEvent* event) = 0;
  virtual bool done(int device, NativeEvent* event) = 0;  // true too for an event never recorded
  virtual void synchronize(int device, NativeEvent* event) = 0;

  // Copies between host and device or between devices of this api, ordered by `stream` (which
  // belongs to `to` if that is a GPU, else to `from`). Host ends are kCPU, kCPUPinned or
  // kCPUShared. A host end that allocate_pinned did not give may make it synchronous, whatever the
  // Device says. The ends must not overlap.
  virtual void copy(void* to_data, Device to, const void* from_data, Device from, std::size_t bytes,
                    NativeStream* stream) = 0;
  virtual void fill(int device, void* data, unsigned char value, std::size_t bytes,
                    NativeStream* stream) = 0;
  // Runs `fn` in stream order on a host thread. It must not call this api, nor wait for something
  // that does: with a real device that deadlocks, the simulator throws. What `fn` throws is an
  // error of the stream.
  virtual void host_call(int device, NativeStream* stream, InlineFunction<void()> fn) = 0;

  // Whether kernels of `device` can be given access to memory of `peer`; enabling twice is
  // harmless. Copies work between any two devices: through the host where there is no link.
  virtual bool can_access_peer(int device, int peer) = 0;
  virtual void enable_peer_access(int device, int peer) = 0;
};

// The api that serves `type`: cpu for the host kinds; for kGPU the simulator when MXNET_SIM_GPUS >
// 0, else the CUDA plug-in, loaded at the first call. Throws Error that says what is missing. Never
// destroyed.
MX_PLUGIN_API DeviceApi& device_api(DeviceType type);

// Number of usable GPUs, 0 where there is no plug-in, driver or simulator. Does not throw.
int gpu_count() noexcept;

}  // namespace mxnet
