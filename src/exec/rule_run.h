// SPDX-License-Identifier: Apache-2.0
// One step of a backward pass: the gradients of one recorded call.
#pragma once
#include <span>

#include "exec/tape.h"

namespace mxnet {

// Where the caller would like a gradient to be computed to; buffer null = anywhere.
struct GradTarget {
  const NDArray* buffer = nullptr;
  Request request = Request::kWrite;
};

struct InputGrad {
  NDArray array;           // none = zero
  bool in_target = false;  // the gradient lies in the target, as its request says
  bool fresh = false;      // nobody else holds the array
};

// `douts`: a gradient per output, none = zero, at least one given. `wants`, `targets` and what is
// found, `grads`: per input. The thread's autograd state decides whether the steps are recorded; if
// they are, targets are not used. Throws Error(kValue) for an operator without gradient.
void run_rule(const OperationNode& node, std::span<const NDArray> douts,
              std::span<const bool> wants, std::span<const GradTarget> targets,
              std::span<InputGrad> grads);

}  // namespace mxnet
