// SPDX-License-Identifier: Apache-2.0
// Runs an update rule over any number of parameters in one parallel pass, in whatever types their
// arrays have: double where all are double, else float; halves go through cache-sized blocks.
#pragma once
#include <array>
#include <span>

#include "op/kernel.h"
#include "op/optim/update_loops.h"

namespace mxnet {

// One parameter. All tensors have the same number of elements.
struct UpdateJob {
  UpdateScalars scalars;
  Tensor weight, grad;
  std::array<Tensor, kMaxUpdateStates> state;
  Tensor out;      // may be `weight`
  Tensor rounded;  // a second output in another type, or without data
};

// On the device of the call.
void run_updates(UpdateRule rule, std::span<const UpdateJob> jobs, KernelContext& context);

}  // namespace mxnet
