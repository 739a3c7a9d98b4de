// SPDX-License-Identifier: Apache-2.0
// Runs an update rule over any number of parameters in one parallel pass, in whatever types their
// arrays have: double where all are double, else float; halves go through cache-sized blocks.
#pragma once
#include <array>
#include <span>

#include "base/host_device.h"
#include "op/kernel.h"
#include "op/optim/update_loops.h"

namespace mxnet {

// Whether a step with this factor of the gradient, if it lies in an array, is to be taken at all:
// infinities and NaN differ from themselves by NaN.
MX_HOST_DEVICE inline bool usable_scale(float scale) {
  return scale - scale == 0.0f && scale != 0.0f;
}

// Numbers of a step that lie in arrays on a GPU: kernels read them there, so that the host does not
// wait. What has no data is in the scalars.
struct NumbersInArrays {
  Tensor lr, wd, rescale_grad;
  int64_t at = 0;                      // which element of `lr` and `wd`
  Tensor weight_norm, direction_norm;  // of LAMB, whose ratio is a factor of the rate

  bool any() const {
    return lr.data != nullptr || rescale_grad.data != nullptr || weight_norm.data != nullptr;
  }
};

// One parameter. All tensors have the same number of elements.
struct UpdateJob {
  UpdateScalars scalars;
  Tensor weight, grad;
  std::array<Tensor, kMaxUpdateStates> state;
  Tensor out;                    // may be `weight`
  Tensor rounded;                // a second output in another type, or without data
  NumbersInArrays numbers = {};  // on a GPU
};

// On the device of the call.
void run_updates(UpdateRule rule, std::span<const UpdateJob> jobs, KernelContext& context);

}  // namespace mxnet
