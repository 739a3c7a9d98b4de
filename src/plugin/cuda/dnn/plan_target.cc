// SPDX-License-Identifier: Apache-2.0
// A handle goes into graphs and plans; properties into heuristics and plans.
#include "plugin/cuda/dnn/plan_target.h"

#include "base/error.h"

namespace mxnet::cuda {

PlanTarget PlanTarget::described([[maybe_unused]] const std::string& json) {
#if CUDNN_VERSION >= 90800  // earlier headers have no words for it
  Descriptor properties(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  properties.set_text(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, json).finalize();
  return PlanTarget(std::move(properties));
#else
  throw Error(ErrorCode::kNotImplemented, "cudnn",
              "built with a version before 9.8, which plans for no device that is not there");
#endif
}

void PlanTarget::tell_graph(Descriptor* graph) const {
  if (properties_ == nullptr) graph->set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, handle_);
}

void PlanTarget::tell_heuristic([[maybe_unused]] Descriptor* heuristic) const {
#if CUDNN_VERSION >= 90800
  if (properties_ != nullptr) heuristic->set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *properties_);
#endif
}

void PlanTarget::tell_plan(Descriptor* plan) const {
#if CUDNN_VERSION >= 90800
  if (properties_ != nullptr) {
    plan->set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, *properties_);
    return;
  }
#endif
  plan->set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, handle_);
}

}  // namespace mxnet::cuda
