// SPDX-License-Identifier: Apache-2.0
// The two sources behind DeviceApi. Shared memory has its own file.
#include "storage/memory_source.h"

#include "storage/shared_memory.h"

namespace mxnet {
namespace {

class DeviceSource final : public MemorySource {
 public:
  DeviceSource(DeviceApi& api, int device) : api_(api), device_(device) {}
  RawBlock allocate(std::size_t bytes) override { return {api_.allocate(device_, bytes), bytes}; }
  void release(const RawBlock& block) noexcept override {
    api_.release(device_, block.data, block.capacity);
  }

 private:
  DeviceApi& api_;
  const int device_;
};

class PinnedSource final : public MemorySource {
 public:
  explicit PinnedSource(DeviceApi& api) : api_(api) {}
  RawBlock allocate(std::size_t bytes) override { return {api_.allocate_pinned(bytes), bytes}; }
  void release(const RawBlock& block) noexcept override {
    api_.release_pinned(block.data, block.capacity);
  }

 private:
  DeviceApi& api_;
};

// A segment takes its memory at birth (shared_memory.cc), so one that is too large would not fail
// but wake the system's out-of-memory killer: hence the look at what is free.
class SharedSource final : public MemorySource {
 public:
  explicit SharedSource(DeviceApi& host) : host_(host) {}
  RawBlock allocate(std::size_t bytes) override {
    return bytes <= host_.memory_info(0).free ? create_segment(bytes) : RawBlock{};
  }
  void release(const RawBlock& block) noexcept override { close_segment(block); }
  bool reusable(const RawBlock& block) const noexcept override { return is_private(block); }

 private:
  DeviceApi& host_;
};

}  // namespace

std::unique_ptr<MemorySource> make_device_source(DeviceApi& api, int device) {
  return std::make_unique<DeviceSource>(api, device);
}
std::unique_ptr<MemorySource> make_pinned_source(DeviceApi& api) {
  return std::make_unique<PinnedSource>(api);
}
std::unique_ptr<MemorySource> make_shared_source(DeviceApi& host) {
  return std::make_unique<SharedSource>(host);
}

}  // namespace mxnet
