// SPDX-License-Identifier: Apache-2.0
// Devices and their memory.
#include <algorithm>
#include <climits>
#include <cstring>

#include <fmt/format.h>

#include "base/cpu_info.h"
#include "c_api/guard.h"
#include "device/device_api.h"
#include "mxnet/c_api.h"
#include "mxnet/c_api_ext.h"
#include "storage/storage.h"

using namespace mxnet;
using c_api::checked_device;
using c_api::guarded;
using c_api::require;

namespace {

MemoryInfo gpu_memory(const char* function, int id) {
  const Device device = checked_device(function, static_cast<int>(DeviceType::kGPU), id);
  return device_api(device.type).memory_info(device.id);
}

int saturated(std::size_t bytes) { return static_cast<int>(std::min<std::size_t>(bytes, INT_MAX)); }

}  // namespace

int MXGetGPUCount(int* out) {
  return guarded([&] {
    require(out, "MXGetGPUCount", "out");
    *out = gpu_count();
  });
}

int MXGetGPUMemoryInformation(int dev, int* free_mem, int* total_mem) {
  return guarded([&] {
    require(free_mem, "MXGetGPUMemoryInformation", "free_mem");
    require(total_mem, "MXGetGPUMemoryInformation", "total_mem");
    const MemoryInfo memory = gpu_memory("MXGetGPUMemoryInformation", dev);
    *free_mem = saturated(memory.free);
    *total_mem = saturated(memory.total);
  });
}

int MXGetGPUMemoryInformation64(int dev, uint64_t* free_mem, uint64_t* total_mem) {
  return guarded([&] {
    require(free_mem, "MXGetGPUMemoryInformation64", "free_mem");
    require(total_mem, "MXGetGPUMemoryInformation64", "total_mem");
    const MemoryInfo memory = gpu_memory("MXGetGPUMemoryInformation64", dev);
    *free_mem = memory.free;
    *total_mem = memory.total;
  });
}

int MXGetCPUMemoryInformation(uint64_t* free_mem, uint64_t* total_mem) {
  return guarded([&] {
    require(free_mem, "MXGetCPUMemoryInformation", "free_mem");
    require(total_mem, "MXGetCPUMemoryInformation", "total_mem");
    const HostMemory memory = host_memory();
    *free_mem = memory.available;
    *total_mem = memory.total;
  });
}

int MXStorageEmptyCache(int dev_type, int dev_id) {
  return guarded(
      [&] { Storage::get().empty_cache(checked_device("MXStorageEmptyCache", dev_type, dev_id)); });
}

int MXStorageGetStatistics(int dev_type, int dev_id, MXStorageStatistics* out, size_t out_bytes) {
  return guarded([&] {
    require(out, "MXStorageGetStatistics", "out");
    const StorageStats s =
        Storage::get().stats(checked_device("MXStorageGetStatistics", dev_type, dev_id));
    const MXStorageStatistics all = {s.in_use,      s.requested,      s.cached,
                                     s.peak_in_use, s.peak_footprint, s.hits,
                                     s.misses,      s.flushes,        s.system_allocations};
    std::memcpy(out, &all, std::min(out_bytes, sizeof(all)));
  });
}

int MXStorageGetTable(int dev_type, int dev_id, const char** out) {
  return guarded([&] {
    require(out, "MXStorageGetTable", "out");
    *out = c_api::keep_for_caller(
        Storage::get().table(checked_device("MXStorageGetTable", dev_type, dev_id)));
  });
}

int MXStorageResetPeak(int dev_type, int dev_id) {
  return guarded(
      [&] { Storage::get().reset_peak(checked_device("MXStorageResetPeak", dev_type, dev_id)); });
}
