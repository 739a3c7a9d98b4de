// SPDX-License-Identifier: Apache-2.0
// Memory for arrays: one manager a device and kind (Naive, Round, Unpooled, chosen by
// configuration), behind one door.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/config_sections.h"
#include "base/device.h"
#include "device/stream.h"
#include "storage/shared_memory.h"

namespace mxnet {

// What allocate gives and release takes back; a plain value, owned by whoever holds it (NDArray's
// chunk wraps it).
struct Block {
  void* data = nullptr;
  std::size_t bytes = 0;     // requested
  std::size_t capacity = 0;  // what the pool's rounding made of it
  Device device;
  const char* tag =
      nullptr;              // who asked, for tables and the profiler; lives as long as the process
  int32_t shared_fd = -1;   // kCPUShared: the segment's descriptor, to be passed to another process
  uint64_t shared_key = 0;  // kCPUShared: the segment's name, see shared_memory.h
};

struct StorageStats {
  std::size_t in_use = 0;          // bytes handed out, after rounding
  std::size_t requested = 0;       // bytes handed out, as asked for
  std::size_t cached = 0;          // bytes kept for reuse
  std::size_t peak_in_use = 0;     // since the start or the last reset
  std::size_t peak_footprint = 0;  // of in_use + cached
  uint64_t hits = 0, misses = 0, flushes = 0, system_allocations = 0;
};

// Thread-safe. A block may be released by any thread.
class Storage {
 public:
  using DeviceResolver = std::function<DeviceApi&(DeviceType)>;

  explicit Storage(const StorageConfig& config);  // devices come from device_api()
  // Devices come from `resolve`, which is called once a kind, at the first use of the kind.
  Storage(const StorageConfig& config, DeviceResolver resolve);
  ~Storage();  // what is cached goes back; blocks in use are lost
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  // A block of at least `bytes` (0 gives data == nullptr). When the device is full, cached blocks
  // of all its pools are flushed and the request retried; then Error(kOutOfMemory) with the table
  // of stats. `stream` is where the block will be used first: memory last used on another stream is
  // reused only after an event.
  Block allocate(std::size_t bytes, Device device, const char* tag = nullptr,
                 Stream* stream = nullptr);
  // `stream` is where the block was used last, null for host memory or when the caller has
  // synchronised.
  void release(const Block& block, Stream* stream = nullptr) noexcept;
  // Returns the memory to the system at once. The caller has synchronised.
  void release_direct(const Block& block) noexcept;

  // Shared memory between processes (docs/memory.md). A kCPUShared block's handle, to be sent; from
  // then on the pool does not reuse the block.
  SharedHandle export_shared(const Block& block);
  // Maps the block behind a handle that another process sent. Throws Error(kValue) that says why it
  // cannot.
  Block attach_shared(SharedHandle handle, std::size_t bytes, const char* tag = nullptr);

  // Gives cached blocks of `device` back to the system, waiting for the streams that still work
  // with them.
  void empty_cache(Device device);
  StorageStats stats(Device device) const;
  void reset_peak(Device device);
  // The table that an out-of-memory error shows: pool, in use, requested, cached, limit, largest
  // tags.
  std::string table(Device device) const;

  // The process's storage; never destroyed.
  static Storage& get();

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace mxnet
