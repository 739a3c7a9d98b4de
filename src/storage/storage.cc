// SPDX-License-Identifier: Apache-2.0
// The door: finds the pool of a device and leaves the rest to it.
#include "storage/storage.h"

#include <utility>

#include "base/config.h"
#include "base/error.h"
#include "base/leaked.h"
#include "storage/storage_impl.h"

namespace mxnet {

Storage::Storage(const StorageConfig& config) : Storage(config, device_api) {}
Storage::Storage(const StorageConfig& config, DeviceResolver resolve)
    : impl_(std::make_unique<Impl>(config, std::move(resolve))) {}
Storage::~Storage() = default;

Block Storage::allocate(std::size_t bytes, Device device, const char* tag, Stream* stream) {
  Pool& pool = impl_->pool(device);  // first, so that an unknown device is an error for 0 bytes too
  if (bytes == 0) [[unlikely]] {
    Block nothing;
    nothing.device = device;
    nothing.tag = tag;
    return nothing;
  }
  return pool.allocate(bytes, device, tag, stream);
}

void Storage::release(const Block& block, Stream* stream) noexcept {
  if (block.data != nullptr) impl_->existing(block.device)->release(block, stream);
}

void Storage::release_direct(const Block& block) noexcept {
  if (block.data != nullptr) impl_->existing(block.device)->release_direct(block);
}

SharedHandle Storage::export_shared(const Block& block) {
  MX_ASSERT(block.device.type == DeviceType::kCPUShared && block.data != nullptr);
  return export_segment({block.data, block.capacity, block.shared_fd, block.shared_key});
}

Block Storage::attach_shared(SharedHandle handle, std::size_t bytes, const char* tag) {
  Pool& pool = impl_->pool(Device::cpu_shared());
  const RawBlock raw = attach_segment(handle, bytes);
  const Block block{raw.data, bytes,         raw.capacity,  Device::cpu_shared(),
                    tag,      raw.shared_fd, raw.shared_key};
  pool.adopt(block);
  return block;
}

void Storage::empty_cache(Device device) {
  if (Pool* pool = impl_->existing(device)) {
    MutexLock lock(pool->domain().mutex);
    pool->flush();
  }
}

StorageStats Storage::stats(Device device) const {
  Pool* pool = impl_->existing(device);
  return pool != nullptr ? pool->stats() : StorageStats{};
}

void Storage::reset_peak(Device device) {
  if (Pool* pool = impl_->existing(device)) pool->reset_peak();
}

std::string Storage::table(Device device) const { return impl_->pool(device).domain().table(); }

Storage& Storage::get() {
  static Leaked<Storage> storage(config().storage);
  return *storage;
}

}  // namespace mxnet
