// SPDX-License-Identifier: Apache-2.0
// Sums of GPUs by NCCL (stores of type `nccl`).
#pragma once
#include <map>
#include <memory>
#include <vector>

#include "kvstore/device_reducer.h"
#include "kvstore/device_team.h"

namespace mxnet::kvstore {

// As Reducer. What is not dense and on at least two different GPUs goes to the plain reducer of
// devices.
class CollectiveReducer final : public Reducer {
 public:
  // Throws Error(kNotImplemented) where there is no NCCL.
  explicit CollectiveReducer(const KvstoreConfig& config);

  Device home(std::size_t key, Arrays values) override { return plain_.home(key, values); }
  void sum(Buffers& buffers, Arrays values, const NDArray& to, int priority) override;
  void sum_and_copy(Buffers& buffers, Arrays values, const NDArray& to, Arrays outs,
                    int priority) override;
  void copy(const NDArray& from, Arrays outs, int priority) override;

 private:
  using TeamRef = std::shared_ptr<DeviceTeam>;
  // Of the GPUs that the arrays lie on; null where these are not for a team.
  TeamRef team_of(Arrays arrays);

  DeviceReducer plain_;
  std::map<std::vector<Device>, TeamRef> teams_;
};

}  // namespace mxnet::kvstore
