// SPDX-License-Identifier: Apache-2.0
// Memory of the device's own, not of a pool: it stays for as long as the network is used.
#include "plugin/cuda/recurrent_weights.h"

#include "base/leaked.h"
#include "base/recently_used.h"
#include "plugin/cuda/handles.h"

namespace mxnet::cuda {
namespace {

// Networks; with dropout between layers each of these is one.
constexpr std::size_t kEntries = 64;

using Cache = RecentlyUsed<PackedWeightsKey, std::shared_ptr<const std::byte>>;

Cache& cache() {
  static Leaked<Cache> instance(kEntries);
  return *instance;
}

}  // namespace

std::shared_ptr<const std::byte> kept_on_device(const PackedWeightsKey& key, Stream& stream,
                                                const std::function<void(std::byte*)>& pack) {
  std::shared_ptr<const std::byte> kept = cache().find(key);
  if (kept == nullptr) {
    if (CudaStream::records()) return nullptr;
    DeviceApi& api = stream.api();
    const auto release = [&api, device = key.device, bytes = key.bytes](const std::byte* memory) {
      api.release(device, const_cast<std::byte*>(memory), bytes);  // waits for what reads it
    };
    auto* const memory = static_cast<std::byte*>(api.allocate(key.device, key.bytes));
    if (memory == nullptr) return nullptr;  // the device is full
    kept = std::shared_ptr<const std::byte>(memory, release);
    pack(memory);
    stream.synchronize();
    cache().add(key, kept);
  }
  CudaStream::use(kept);
  return kept;
}

}  // namespace mxnet::cuda
