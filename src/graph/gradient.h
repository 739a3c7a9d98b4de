// SPDX-License-Identifier: Apache-2.0
// Differentiation of graphs, with the rules that autograd uses.
#pragma once
#include <span>
#include <vector>

#include "ir/graph.h"
#include "op/infer.h"

namespace mxnet {

struct GradientOptions {
  // Gradients with at most this many terms are summed by one operator, longer ones by a chain of
  // additions in place (MXNET_EXEC_INPLACE_GRAD_SUM_CAP).
  int inplace_sum_cap = 8;
  bool differentiable = false;  // the result will be differentiated again
  bool ones_for_null = true;    // a null head gradient stands for ones, else for zero
  // Of the graph's entries, in the order of IndexedGraph; empty where they come later.
  std::span<const ArrayType> types = {};
};

// For each of `wrt` (values of the graph, mostly variables) its gradient; null = zero. Behind
// these, of a differentiable result, what is to be computed for the states that move with it.
// `head_grads` holds one per output of the graph. Nodes that are made are called after the node
// that they differentiate: NAME_backward. Throws Error(kValue) naming the node where a gradient has
// to pass an operator that has none.
std::vector<ir::Entry> gradient(const ir::Graph& forward, std::span<const ir::Entry> head_grads,
                                std::span<const ir::Entry> wrt,
                                const GradientOptions& options = {});

}  // namespace mxnet
