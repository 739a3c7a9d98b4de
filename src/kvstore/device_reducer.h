// SPDX-License-Identifier: Apache-2.0
// Sums on the devices that the values lie on: on one GPU a key, chosen so that all have about the
// same to do; in host memory where the values are there.
#pragma once
#include <map>
#include <set>

#include "kvstore/host_reducer.h"
#include "kvstore/reducer.h"

namespace mxnet::kvstore {

// As Reducer.
class DeviceReducer final : public Reducer {
 public:
  explicit DeviceReducer(const KvstoreConfig& config)
      : config_(config), host_(config, SumOrder::kLeft) {}

  Device home(std::size_t key, Arrays values) override;
  void sum(Buffers& buffers, Arrays values, const NDArray& to, int priority) override;
  void sum_and_copy(Buffers& buffers, Arrays values, const NDArray& to, Arrays outs,
                    int priority) override;
  void copy(const NDArray& from, Arrays outs, int priority) override;

 private:
  void sum_on_gpu(Buffers& buffers, Arrays values, const NDArray& to, int priority);
  // Between GPUs directly or, without P2P, through the host.
  void move(const NDArray& from, const NDArray& to, int priority);
  void connect(Device a, Device b);

  const KvstoreConfig& config_;
  HostReducer host_;
  std::map<std::size_t, Device> homes_;  // by key
  std::map<Device, int64_t> load_;       // bytes summed on each
  std::set<std::pair<Device, Device>> connected_;
};

}  // namespace mxnet::kvstore
