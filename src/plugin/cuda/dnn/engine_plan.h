// SPDX-License-Identifier: Apache-2.0
// An engine of cuDNN that is ready to run a graph of operations.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "plugin/cuda/dnn/cudnn.h"
#include "plugin/cuda/dnn/plan_target.h"

namespace mxnet::cuda {

// Immutable.
class EnginePlan {
 public:
  // Takes the engine's descriptor, which stays with the plan. Throws Error(kGeneric) where the
  // engine does not support the operations.
  EnginePlan(const PlanTarget& target, Descriptor engine);

  std::size_t workspace_bytes() const { return workspace_bytes_; }
  // On the handle's stream: arrays by the names that the operations give them.
  void run(cudnnHandle_t handle, const std::vector<int64_t>& ids,
           const std::vector<void*>& addresses, void* workspace) const;

 private:
  Descriptor engine_, plan_;
  std::size_t workspace_bytes_ = 0;
};

}  // namespace mxnet::cuda
