// SPDX-License-Identifier: Apache-2.0
// Forward graph plus gradients.
#include "exec/plan_graph.h"

#include "base/config.h"
#include "graph/gradient.h"
#include "op/grad.h"

namespace mxnet {

TrainingGraph training_graph(const ir::Graph& forward, std::span<const ir::Entry> wrt,
                             bool differentiable) {
  TrainingGraph training{.graph = forward, .head_grads = {}, .forward_outputs = 0};
  training.forward_outputs = static_cast<int>(forward.outputs.size());
  for (const ir::Entry& output : forward.outputs) {
    auto head = make_ref<ir::Node>();
    head->name = output.node->name + "_head_grad";
    training.head_grads.push_back({std::move(head), 0, 0});
  }
  const GradientOptions options{.inplace_sum_cap = config().executor.inplace_grad_sum_cap,
                                .differentiable = differentiable};
  std::vector<ir::Entry> gradients = gradient(forward, training.head_grads, wrt, options);
  for (std::size_t i = 0; i < wrt.size(); ++i) {
    if (!gradients[i]) {
      gradients[i] = apply("zeros_like", {Value(wrt[i])}).entry();
      gradients[i].node->name = wrt[i].node->name + "_no_grad";
    }
    training.graph.outputs.push_back(std::move(gradients[i]));
  }
  return training;
}

}  // namespace mxnet
