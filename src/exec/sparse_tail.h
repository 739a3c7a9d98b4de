// SPDX-License-Identifier: Apache-2.0
// Gradients that an operator makes row_sparse (those of embedding tables), behind a plan: its
// memory is laid out before anybody knows how many rows there are, and a dense gradient would be as
// large as the table.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "exec/plan_eager.h"
#include "exec/plan_graph.h"

namespace mxnet {

// Immutable. Runs node by node on what the plan has computed.
struct SparseTail {
  EagerGraph graph;            // an output per gradient that it computes
  std::vector<bool> computes;  // per gradient of the training graph
  // Variables of `graph` that stand for values of the plan: its last outputs, in order.
  std::vector<Ref<ir::Node>> cuts;
  // By variable of `graph`: its place among the inputs of the plan's graph, the gradients of that
  // one's outputs and the cuts, numbered in this order.
  std::vector<int> sources;

  struct Values {
    std::span<const NDArray> inputs, output_grads, cuts;
  };
  // Its gradients to their places; `wants`: inputs that have one.
  void run(const Values& values, Device home, const std::vector<bool>& wants,
           std::vector<NDArray>* grads) const;
};

// Takes the row_sparse gradients out of `training` and puts what they are computed from behind its
// other outputs; those that a dense operator reads stay. Null where none is taken.
std::unique_ptr<SparseTail> cut_sparse_gradients(TrainingGraph* training, Device device);

}  // namespace mxnet
