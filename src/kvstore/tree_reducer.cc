// SPDX-License-Identifier: Apache-2.0
// Up: each device adds what its children have summed to its own. Down: copies, parent to child.
#include "kvstore/tree_reducer.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/config.h"
#include "base/log.h"
#include "device/device_links.h"

namespace mxnet::kvstore {
namespace {

// Elements [first, last) in storage order.
NDArray flat_slice(const NDArray& array, int64_t first, int64_t last) {
  return array.reshape(Shape{array.size()}).slice(first, last);
}

std::vector<Device> devices_of(Arrays arrays) {
  std::vector<Device> devices;
  for (const NDArray& array : arrays) devices.push_back(array.device());
  std::sort(devices.begin(), devices.end());
  return devices;
}

}  // namespace

LinkMatrix link_matrix(const std::vector<Device>& gpus) {
  DeviceApi& api = device_api(DeviceType::kGPU);
  const std::vector<double> weights = link_weights(api);
  const auto all = static_cast<std::size_t>(api.device_count());
  const int count = static_cast<int>(gpus.size());
  LinkMatrix links(count);
  for (int a = 0; a < count; ++a) {
    for (int b = 0; b < a; ++b) {
      const auto x = static_cast<std::size_t>(gpus[static_cast<std::size_t>(a)].id);
      const auto y = static_cast<std::size_t>(gpus[static_cast<std::size_t>(b)].id);
      links.set(a, b, weights[x * all + y]);
    }
  }
  return links;
}

std::size_t TreeReducer::number_of(Device device) const {
  return static_cast<std::size_t>(std::find(gpus_.begin(), gpus_.end(), device) - gpus_.begin());
}

bool TreeReducer::has_trees_for(Arrays arrays) {
  const bool dense = std::all_of(arrays.begin(), arrays.end(), [](const NDArray& array) {
    return array.device().is_gpu() && !array.is_sparse();
  });
  std::vector<Device> devices = devices_of(arrays);
  const bool distinct = std::adjacent_find(devices.begin(), devices.end()) == devices.end();
  if (!dense || !distinct || devices.size() < 2 || !config_.enable_gpu_p2p) return false;
  if (devices == gpus_) return !trees_.empty();
  gpus_ = std::move(devices);
  trees_ = make_trees(link_matrix(gpus_), {.exhaustive = config_.tree_backtrack,
                                           .usage_penalty = config_.tree_link_usage_penalty});
  if (config_.logtree) {
    for (const LinkTree& tree : trees_)
      log(LogLevel::kInfo, fmt::format("kvstore tree: {}", tree.text()));
    if (trees_.empty())
      log(LogLevel::kInfo, "kvstore tree: none, the links do not connect all devices");
  }
  return !trees_.empty();
}

NDArray TreeReducer::sum_up(const LinkTree& tree, const std::vector<NDArray>& values, int device,
                            int priority) {
  const NDArray& own = values[static_cast<std::size_t>(device)];
  std::vector<NDArray> terms{own};
  for (const int child : tree.children(device))
    terms.push_back(sum_up(tree, values, child, priority));
  if (terms.size() == 1) return own;
  NDArray sum = empty_like(own, own.device());
  Buffers arrivals;
  plain_.sum(arrivals, terms, sum, priority);
  return sum;
}

void TreeReducer::copy_down(const LinkTree& tree, const NDArray& from,
                            const std::vector<NDArray>& outs, int device, int priority) {
  for (const int child : tree.children(device)) {
    const NDArray& out = outs[static_cast<std::size_t>(child)];
    plain_.copy(from, std::span(&out, 1), priority);
    copy_down(tree, out, outs, child, priority);
  }
}

void TreeReducer::sum(Buffers& buffers, Arrays values, const NDArray& to, int priority) {
  if (!to.device().is_gpu() || !has_trees_for(values))
    return plain_.sum(buffers, values, to, priority);
  sum_and_copy(buffers, values, to, {}, priority);
}

void TreeReducer::sum_and_copy(Buffers& buffers, Arrays values, const NDArray& to, Arrays outs,
                               int priority) {
  const bool same_devices = outs.empty() || devices_of(outs) == devices_of(values);
  const bool plain_outs = std::all_of(outs.begin(), outs.end(), [&](const NDArray& out) {
    return !out.is_sparse() && out.dtype() == to.dtype();
  });
  if (!to.device().is_gpu() || !has_trees_for(values) || !same_devices || !plain_outs)
    return plain_.sum_and_copy(buffers, values, to, outs, priority);
  const int64_t size = to.size();
  const std::size_t home = number_of(to.device());
  const bool split = size > config_.tree_array_bound;
  const auto slices = static_cast<int64_t>(split ? gpus_.size() : 1);
  for (int64_t s = 0; s < slices; ++s) {
    const int64_t first = size * s / slices, last = size * (s + 1) / slices;
    const auto by_device = [&](Arrays arrays) {
      std::vector<NDArray> sliced(gpus_.size());
      for (const NDArray& array : arrays)
        sliced[number_of(array.device())] = flat_slice(array, first, last);
      return sliced;
    };
    const LinkTree& tree = trees_[split ? static_cast<std::size_t>(s) : home];
    const NDArray sum = sum_up(tree, by_device(values), tree.root, priority);
    const NDArray target = flat_slice(to, first, last);
    plain_.copy(sum, std::span(&target, 1), priority);
    if (outs.empty()) continue;
    const std::vector<NDArray> sliced = by_device(outs);
    plain_.copy(sum, std::span(&sliced[static_cast<std::size_t>(tree.root)], 1), priority);
    copy_down(tree, sum, sliced, tree.root, priority);
  }
}

void TreeReducer::copy(const NDArray& from, Arrays outs, int priority) {
  const bool plain_outs = std::all_of(
      outs.begin(), outs.end(), [&](const NDArray& out) { return out.dtype() == from.dtype(); });
  if (!from.device().is_gpu() || !plain_outs || !has_trees_for(outs) ||
      number_of(from.device()) == gpus_.size())
    return plain_.copy(from, outs, priority);
  std::vector<NDArray> by_device(gpus_.size());
  for (const NDArray& out : outs) by_device[number_of(out.device())] = out.detach();
  const std::size_t home = number_of(from.device());
  plain_.copy(from, std::span(&by_device[home], 1), priority);
  copy_down(trees_[home], from, by_device, static_cast<int>(home), priority);
}

}  // namespace mxnet::kvstore
