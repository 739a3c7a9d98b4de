// SPDX-License-Identifier: Apache-2.0
// Sums of GPUs along trees that follow their links (MXNET_KVSTORE_USETREE); big arrays in slices,
// each along a tree of its own.
#pragma once
#include <vector>

#include "kvstore/device_reducer.h"
#include "kvstore/link_tree.h"

namespace mxnet::kvstore {

// How GPUs are linked, in the order of `gpus`.
LinkMatrix link_matrix(const std::vector<Device>& gpus);

// As Reducer. What is not dense and on at least two different GPUs goes to the plain reducer of
// devices, and so does everything where the links do not connect the GPUs.
class TreeReducer final : public Reducer {
 public:
  explicit TreeReducer(const KvstoreConfig& config) : config_(config), plain_(config) {}

  Device home(std::size_t key, Arrays values) override { return plain_.home(key, values); }
  void sum(Buffers& buffers, Arrays values, const NDArray& to, int priority) override;
  void sum_and_copy(Buffers& buffers, Arrays values, const NDArray& to, Arrays outs,
                    int priority) override;
  void copy(const NDArray& from, Arrays outs, int priority) override;

 private:
  // The trees over these devices; built anew when they change.
  bool has_trees_for(Arrays arrays);
  std::size_t number_of(Device device) const;
  // The sum of one slice, on the tree's root.
  NDArray sum_up(const LinkTree& tree, const std::vector<NDArray>& values, int device,
                 int priority);
  void copy_down(const LinkTree& tree, const NDArray& from, const std::vector<NDArray>& outs,
                 int device, int priority);

  const KvstoreConfig& config_;
  DeviceReducer plain_;
  std::vector<Device> gpus_;
  std::vector<LinkTree> trees_;  // by root; empty where there are none
};

}  // namespace mxnet::kvstore
