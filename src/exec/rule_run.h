// SPDX-License-Identifier: Apache-2.0
// One step of a backward pass: builds the gradient nodes of one recorded call and executes them at
// once.
#pragma once
#include <span>
#include <vector>

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

// `douts`: a gradient per output, none = zero, at least one given. `wants` and `targets`: per
// input. The thread's autograd state decides whether the steps are recorded; if they are, targets
// are not used. Throws Error(kValue) for an operator without gradient.
std::vector<InputGrad> run_rule(const OperationNode& node, std::span<const NDArray> douts,
                                std::span<const bool> wants, std::span<const GradTarget> targets);

}  // namespace mxnet
