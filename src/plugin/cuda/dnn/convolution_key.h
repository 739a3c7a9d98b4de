// SPDX-License-Identifier: Apache-2.0
// What the plan of a convolution depends on, as numbers: what is looked for at each call. As text
// (choice_key) it is kept on disk.
#pragma once
#include "plugin/cuda/cudnn_engines.h"
#include "plugin/cuda/dnn/convolution.h"
#include "plugin/cuda/dnn/plan_table.h"

namespace mxnet::cuda {

// Replaces what is in `key`, whose memory stays.
void set_plan_key(const Convolution& convolution, const EnginePolicy& policy, PlanKey* key);

}  // namespace mxnet::cuda
