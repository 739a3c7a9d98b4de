// SPDX-License-Identifier: Apache-2.0
// Where a pool gets raw memory from: a device, pinned host memory or shared segments. Pools know
// nothing else about it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "device/device_api.h"

namespace mxnet {

// Memory as the source gave it.
struct RawBlock {
  void* data = nullptr;
  std::size_t capacity = 0;
  int32_t shared_fd = -1;  // shared memory only, as in Block
  uint64_t shared_key = 0;
};

// Thread-safe.
class MemorySource {
 public:
  virtual ~MemorySource() = default;
  // data == nullptr when out of memory.
  virtual RawBlock allocate(std::size_t bytes) = 0;
  virtual void release(const RawBlock& block) noexcept = 0;
  // Whether a block that its owner gave up may serve the next one. Not when another process may
  // still see it.
  virtual bool reusable(const RawBlock&) const noexcept { return true; }
};

std::unique_ptr<MemorySource> make_device_source(DeviceApi& api, int device);
std::unique_ptr<MemorySource> make_pinned_source(DeviceApi& api);
std::unique_ptr<MemorySource> make_shared_source(DeviceApi& host);  // shared_memory.h

}  // namespace mxnet
