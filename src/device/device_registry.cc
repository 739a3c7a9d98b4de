// SPDX-License-Identifier: Apache-2.0
// Decides once, at the first use of a GPU, between simulator and plug-in, and remembers a failure:
// asking again and again for gpu_count() must not open files again and again.
#include "device/device_registry.h"

#include <atomic>
#include <mutex>
#include <optional>

#include "base/config.h"
#include "base/error.h"
#include "base/leaked.h"
#include "device/cpu/cpu_device_api.h"
#include "device/plugin_loader.h"
#include "device/sim/sim_device_api.h"

namespace mxnet {
namespace {

// Thread-safe. Exactly one of `api` and `error` is set once `once` has run.
struct Gpus {
  std::once_flag once;
  DeviceApi* api = nullptr;
  const PluginTable* plugin = nullptr;
  std::optional<Error> error;

  void find(const DeviceConfig& config) noexcept {
    try {
      if (config.sim_gpus > 0) {
        api = new SimDeviceApi(config);  // leaked: its threads may run while the process exits
        return;
      }
      plugin = &load_plugin(path_beside_this_library("libmxnet_cuda.so"));
      api = plugin->create();
    } catch (const Error& e) {
      error = e;
    } catch (const std::exception& e) {
      error = Error(ErrorCode::kGeneric, "gpu", e.what());
    }
  }
};

Gpus& gpus() {
  static Leaked<Gpus> gpus;
  const DeviceConfig& config = mxnet::config().device;  // outside: a bad variable fails every call
  std::call_once(gpus->once, [&] { gpus->find(config); });
  return *gpus;
}

// [0]: host kinds, [1]: GPUs. Release on installing pairs with acquire: whoever sees the pointer
// sees the object.
std::atomic<DeviceApi*> g_override[2];

std::atomic<DeviceApi*>& override_of(DeviceType type) {
  return g_override[type == DeviceType::kGPU];
}

}  // namespace

DeviceApi& device_api(DeviceType type) {
  if (DeviceApi* api = override_of(type).load(std::memory_order_acquire)) return *api;
  if (type != DeviceType::kGPU) {
    static Leaked<CpuDeviceApi> cpu;
    return *cpu;
  }
  Gpus& found = gpus();
  if (found.error) throw *found.error;
  return *found.api;
}

int gpu_count() noexcept {
  try {
    return device_api(DeviceType::kGPU).device_count();
  } catch (const std::exception&) {
    return 0;  // the reason is told to whoever asks for the device itself
  }
}

const PluginTable* cuda_plugin() noexcept {
  try {
    if (override_of(DeviceType::kGPU).load(std::memory_order_acquire) != nullptr) return nullptr;
    const Gpus& found = gpus();
    return found.error ? nullptr : found.plugin;
  } catch (const std::exception&) {
    return nullptr;
  }
}

bool is_permanent(const DeviceApi& api) noexcept {
  for (const std::atomic<DeviceApi*>& replaced : g_override)
    if (replaced.load(std::memory_order_acquire) == &api) return false;
  return true;
}

DeviceApiOverride::DeviceApiOverride(DeviceType type, DeviceApi& api) : type_(type) {
  DeviceApi* none = nullptr;
  const bool installed = override_of(type).compare_exchange_strong(
      none, &api, std::memory_order_release,
      std::memory_order_relaxed);  // `none` is not looked into
  MX_ASSERT(installed);
}

DeviceApiOverride::~DeviceApiOverride() {
  override_of(type_).store(nullptr, std::memory_order_release);
}

}  // namespace mxnet
