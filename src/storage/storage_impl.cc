// SPDX-License-Identifier: Apache-2.0
// Making pools: which configuration, source and domain belong to a device.
#include "storage/storage_impl.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "base/config.h"
#include "base/error.h"
#include "storage/storage_fork.h"

namespace mxnet {

Storage::Impl::Impl(const StorageConfig& config, DeviceResolver resolve)
    : config_(config), resolve_(std::move(resolve)) {
  join_forks(this);
}

Storage::Impl::~Impl() {
  leave_forks(this);
  for_each_pool([](Pool& pool) { delete &pool; });
}

template <class Visit>
void Storage::Impl::for_each_pool(const Visit& visit) {
  for (auto& entry : pools_) {
    if (Pool* pool = entry.load(std::memory_order_acquire)) visit(*pool);
  }
}

Pool& Storage::Impl::create(Device device) {
  if (!valid(device)) {
    throw Error(
        ErrorCode::kValue, to_string(device),
        fmt::format("given device id {}, expected one from 0 to {}", device.id, kMaxGpus - 1));
  }
  MutexLock lock(create_mutex_);
  if (Pool* pool = existing(device)) return *pool;
  auto pool = std::make_unique<Pool>(setup_for(device), domain_for(device));
  pools_[slot(device)].store(pool.get(), std::memory_order_release);
  return *pool.release();
}

namespace {

// Pinned memory comes from the kind of device that copies from and to it; without one, it is
// ordinary host memory.
DeviceApi& pinning_api(const Storage::DeviceResolver& resolve) {
  try {
    DeviceApi& api = resolve(DeviceType::kGPU);
    if (api.device_count() > 0) return api;
  } catch (const Error&) {  // no GPU here
  }
  return resolve(DeviceType::kCPUPinned);
}

}  // namespace

Pool::Setup Storage::Impl::setup_for(Device device) {
  const PoolConfig* config = &config_.cpu;
  std::string_view variables = "MXNET_CPU";
  std::unique_ptr<MemorySource> source;
  bool dies_with_fork = false;
  switch (device.type) {
    case DeviceType::kCPU:
      source = make_device_source(resolve_(device.type), 0);
      break;
    case DeviceType::kCPUShared:  // configured like the CPU's: it is the same memory
      source = make_shared_source(resolve_(DeviceType::kCPU));
      break;
    case DeviceType::kCPUPinned: {
      config = &config_.pinned;
      variables = "MXNET_CPU_PINNED";
      DeviceApi& api = pinning_api(resolve_);
      source = make_pinned_source(api);
      dies_with_fork = &api != &resolve_(DeviceType::kCPU);
      break;
    }
    case DeviceType::kGPU: {
      config = &config_.gpu;
      variables = "MXNET_GPU";
      DeviceApi& api = resolve_(device.type);
      if (const int count = api.device_count(); device.id >= count) {
        throw Error(
            ErrorCode::kValue, to_string(device),
            fmt::format("given device id {}, expected less than {}, the number of {} devices",
                        device.id, count, api.name()));
      }
      source = make_device_source(api, device.id);
      dies_with_fork = true;
      break;
    }
  }
  const PoolType type = config_.use_naive_managers != 0 ? PoolType::kUnpooled : config->type;
  device.id = device.is_gpu() ? device.id : 0;
  // Programs that keep many small arrays are for the host; segments that others map are pages, and
  // what is pinned is locked in pages.
  const bool small_blocks = device.type == DeviceType::kCPU;
  return {device,
          type,
          Rounding(type, *config, variables, small_blocks),
          config->reserve,
          std::move(source),
          dies_with_fork};
}

MemoryDomain& Storage::Impl::domain_for(Device device) {
  std::unique_ptr<MemoryDomain>& domain = domains_[device.is_gpu() ? 1 + device.id : 0];
  if (domain == nullptr) {
    domain = device.is_gpu() ? std::make_unique<MemoryDomain>(resolve_(DeviceType::kGPU), device.id)
                             : std::make_unique<MemoryDomain>(resolve_(DeviceType::kCPU), 0);
  }
  return *domain;
}

void Storage::Impl::lock_for_fork() MX_NO_THREAD_SAFETY_ANALYSIS {
  create_mutex_.lock();
  for (auto& domain : domains_) {
    if (domain != nullptr) domain->mutex.lock();
  }
  // A child would share the pages of what is cached here; so nothing shared is cached across a
  // fork.
  if (Pool* shared = existing(Device::cpu_shared())) shared->flush();
}

void Storage::Impl::unlock_in_parent() MX_NO_THREAD_SAFETY_ANALYSIS {
  for_each_pool([](Pool& pool) { pool.unlock_lanes(); });
  for (auto& domain : domains_) {
    if (domain != nullptr) domain->mutex.unlock();
  }
  create_mutex_.unlock();
}

void Storage::Impl::unlock_in_child() {
  for_each_pool([](Pool& pool) { pool.after_fork_in_child(); });
  unlock_in_parent();
}

void Storage::Impl::lock_lanes_for_fork() {
  for_each_pool([](Pool& pool) { pool.lock_lanes(); });
}

}  // namespace mxnet
