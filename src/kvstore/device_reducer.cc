// SPDX-License-Identifier: Apache-2.0
// Copies to the GPU that sums, one addition there, copies back.
#include "kvstore/device_reducer.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/config.h"
#include "device/device_api.h"
#include "exec/invoke.h"
#include "op/op_def.h"
#include "op/params/parsed_attrs.h"

namespace mxnet::kvstore {
namespace {

// What a GPU can sum itself.
bool all_dense_on_gpus(Arrays values) {
  return std::all_of(values.begin(), values.end(), [](const NDArray& value) {
    return value.device().is_gpu() && !value.is_sparse();
  });
}

void add_on_device(std::span<const NDArray> values, const NDArray& to, int priority) {
  static const OpDef& add_n = Registry::get().at("add_n");
  const std::string count = std::to_string(values.size());
  const std::array<std::pair<std::string_view, std::string_view>, 1> attrs{{{"num_args", count}}};
  std::vector<const NDArray*> in;
  for (const NDArray& value : values) in.push_back(&value);
  NDArray out = to.detach();
  const std::array<NDArray*, 1> outs{&out};
  InvokeOptions options;
  options.priority = priority;
  invoke(add_n, parse_attrs(add_n, attrs)->params(), in, outs, options);
}

}  // namespace

Device DeviceReducer::home(std::size_t key, Arrays values) {
  if (!all_dense_on_gpus(values)) return Device::cpu();
  const auto has = [&](Device device) {
    return std::any_of(values.begin(), values.end(),
                       [&](const NDArray& value) { return value.device() == device; });
  };
  const auto known = homes_.find(key);
  if (known != homes_.end() && has(known->second)) return known->second;
  Device least = values.front().device();
  for (const NDArray& value : values)
    if (load_[value.device()] < load_[least]) least = value.device();
  load_[least] += static_cast<int64_t>(values.front().bytes());
  homes_[key] = least;
  return least;
}

void DeviceReducer::connect(Device a, Device b) {
  if (!connected_.emplace(a, b).second) return;
  DeviceApi& api = device_api(DeviceType::kGPU);
  if (api.can_access_peer(a.id, b.id)) api.enable_peer_access(a.id, b.id);
}

void DeviceReducer::move(const NDArray& from, const NDArray& to, int priority) {
  const Device a = from.device(), b = to.device();
  if (!a.is_gpu() || !b.is_gpu() || a == b) return transfer(from, to, priority);
  if (config_.enable_gpu_p2p) {
    connect(b, a);
    return transfer(from, to, priority);
  }
  const NDArray host = empty_like(from, Device::cpu_pinned());
  from.copy_to(host, priority);
  transfer(host, to, priority);
}

void DeviceReducer::sum_on_gpu(Buffers& buffers, Arrays values, const NDArray& to, int priority) {
  std::vector<NDArray> local;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].device() == to.device()) {
      local.push_back(values[i].detach());
    } else {
      local.push_back(staged(buffers, i, to, to.device()));
      move(values[i], local.back(), priority);
    }
  }
  if (local.size() == 1) return local.front().copy_to(to, priority);
  add_on_device(local, to, priority);
}

void DeviceReducer::sum(Buffers& buffers, Arrays values, const NDArray& to, int priority) {
  if (!to.device().is_gpu()) return host_.sum(buffers, values, to, priority);
  sum_on_gpu(buffers, values, to, priority);
}

void DeviceReducer::sum_and_copy(Buffers& buffers, Arrays values, const NDArray& to, Arrays outs,
                                 int priority) {
  if (!to.device().is_gpu()) return host_.sum_and_copy(buffers, values, to, outs, priority);
  sum_on_gpu(buffers, values, to, priority);
  copy(to, outs, priority);
}

void DeviceReducer::copy(const NDArray& from, Arrays outs, int priority) {
  if (!from.device().is_gpu()) return host_.copy(from, outs, priority);
  for (const NDArray& out : outs) move(from, out, priority);
}

}  // namespace mxnet::kvstore
