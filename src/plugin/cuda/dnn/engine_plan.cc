// SPDX-License-Identifier: Apache-2.0
// A plan, and the pack of arrays that each run of it makes.
#include "plugin/cuda/dnn/engine_plan.h"

namespace mxnet::cuda {

EnginePlan::EnginePlan(const PlanTarget& target, Descriptor engine)
    : engine_(std::move(engine)), plan_(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) {
  target.tell_plan(&plan_);
  plan_.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, engine_).finalize();
  workspace_bytes_ = static_cast<std::size_t>(
      plan_.get<int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, 1).at(0));
}

void EnginePlan::run(cudnnHandle_t handle, const std::vector<int64_t>& ids,
                     const std::vector<void*>& addresses, void* workspace) const {
  Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids)
      .set_addresses(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, addresses)
      .set_addresses(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, {workspace})
      .finalize();
  const Cudnn& cudnn = Cudnn::get();
  cudnn.check(cudnn.execute(handle, plan_.raw(), pack.raw()), "cudnnBackendExecute");
}

}  // namespace mxnet::cuda
