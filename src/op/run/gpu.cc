// SPDX-License-Identifier: Apache-2.0
// The set of portable operators, and the table of GPU kernels, made at its first use.
#include "op/run/gpu.h"

#include <algorithm>
#include <unordered_map>

#include "base/leaked.h"
#include "device/device_registry.h"
#include "op/run/gpu_service.h"
#include "op/run/gpu_table.h"
#include "op/run/portable_if.h"

namespace mxnet {
namespace {

// Operators and what they accept; null = everything.
std::unordered_map<const OpDef*, AcceptsOnGpu>& portable() {
  static Leaked<std::unordered_map<const OpDef*, AcceptsOnGpu>> ops;
  return *ops;
}

// Immutable once built.
class Kernels {
 public:
  explicit Kernels(const GpuTable& table) {
    for (const auto& [op, accepts] : portable()) {
      for (const KernelEntry& kernel : op->kernels()) {
        if (kernel.device != DeviceType::kCPU || kernel.accepts) continue;
        kernels_.emplace(op, KernelEntry{"portable", DeviceType::kGPU, accepts, kernel.run});
      }
    }
    for (const GpuKernelRow& row : table.kernels) {
      if (const OpDef* op = Registry::get().find(row.op))
        kernels_.insert_or_assign(op, KernelEntry{"cuda", DeviceType::kGPU, row.accepts, row.run});
    }
  }
  const KernelEntry* find(const OpDef& op) const {
    const auto it = kernels_.find(&op);
    return it == kernels_.end() ? nullptr : &it->second;
  }

 private:
  std::unordered_map<const OpDef*, KernelEntry> kernels_;
};

}  // namespace

const GpuTable* gpu_table() noexcept {
  const PluginTable* plugin = cuda_plugin();
  return plugin == nullptr ? nullptr : plugin->kernels;
}

void mark_portable(std::string_view op) { mark_portable_if(op, nullptr); }
bool mark_portable_if(std::string_view op, AcceptsOnGpu accepts) {
  portable().emplace(&Registry::get().at(op), accepts);
  return true;
}
bool mark_portable(std::initializer_list<std::string_view> ops) {
  for (const std::string_view op : ops) mark_portable(op);
  return true;
}
bool is_portable(const OpDef& op) { return portable().count(&op) != 0; }

const KernelEntry* gpu_kernel(const OpDef& op) {
  const GpuTable* table = gpu_table();
  if (table == nullptr) return nullptr;
  static Leaked<Kernels> kernels(*table);  // one plug-in a process
  return kernels->find(op);
}

const GpuKernelRow* gpu_service(std::string_view name) {
  const GpuTable* table = gpu_table();
  if (table == nullptr) return nullptr;
  const auto named = [&](const GpuKernelRow& row) { return name == row.op; };
  const auto found = std::find_if(table->kernels.begin(), table->kernels.end(), named);
  return found == table->kernels.end() ? nullptr : &*found;
}

}  // namespace mxnet
