// SPDX-License-Identifier: Apache-2.0
// What cuDNN plans for: the device of a handle, or one that is only described. Of a description
// engines can be asked for and plans be made on machines without a GPU; nothing runs by these.
#pragma once
#include <memory>
#include <string>

#include "plugin/cuda/dnn/cudnn.h"

namespace mxnet::cuda {

// Immutable.
class PlanTarget {
 public:
  PlanTarget(cudnnHandle_t handle) : handle_(handle) {}  // NOLINT(google-explicit-constructor)
  // From cuDNN's own text for a device's properties. Throws Error where it is not that, and where
  // the library lacks descriptions of devices, as before 9.8.
  static PlanTarget described(const std::string& json);

  // Tells each of them, before it is finalized.
  void tell_graph(Descriptor* graph) const;
  void tell_heuristic(Descriptor* heuristic) const;
  void tell_plan(Descriptor* plan) const;

 private:
  explicit PlanTarget(Descriptor properties)
      : properties_(std::make_shared<const Descriptor>(std::move(properties))) {}

  cudnnHandle_t handle_ = nullptr;
  std::shared_ptr<const Descriptor> properties_;  // null where there is a handle
};

}  // namespace mxnet::cuda
