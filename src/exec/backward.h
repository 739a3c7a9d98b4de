// SPDX-License-Identifier: Apache-2.0
// Differentiation of what was recorded.
#pragma once
#include <span>
#include <vector>

#include "exec/invoke.h"

namespace mxnet {

struct BackwardOptions {
  bool retain_graph = false;  // else the graph is freed as it is passed
  bool create_graph = false;  // the gradients can be differentiated again
  bool training = true;       // mode of the gradient kernels
  bool allow_unused = false;  // gradients(): none for a variable on which no head depends
};

// Gradients of `heads` with respect to all marked arrays behind them, into their buffers, as their
// requests say. `head_grads` is empty or has one per head; null or none stands for ones. Throws
// Error(kValue) if a head is not (or no longer) in a graph, or nothing behind it wants a gradient.
void backward(InputRefs heads, InputRefs head_grads, const BackwardOptions& options = {});

// Gradients with respect to `variables` (marked arrays), as new arrays; buffers stay untouched.
std::vector<NDArray> gradients(InputRefs heads, InputRefs head_grads, InputRefs variables,
                               const BackwardOptions& options = {});

}  // namespace mxnet
