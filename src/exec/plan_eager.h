// SPDX-License-Identifier: Apache-2.0
// A graph run as eager calls, node by node: what a plan cannot do. Shapes that follow from values,
// sparse arrays, observers of every value, gradients of gradients.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "exec/array_op.h"
#include "exec/imperative.h"
#include "exec/placement.h"
#include "graph/indexed_graph.h"

namespace mxnet {

// Immutable; any number of threads may run it.
class EagerGraph {
 public:
  explicit EagerGraph(IndexedGraph graph);

  const IndexedGraph& graph() const { return graph_; }
  // Some operator finds its output shapes while running.
  bool has_dynamic_shapes() const { return dynamic_; }

  // Sees values as they are computed, before the next node runs.
  struct Observer {
    std::function<void(const ir::Node& node, int output, const NDArray& value)> output;
    std::function<void(const ir::Node& node, int input, const NDArray& value)> input;  // or empty
  };
  // One array per variable of the graph, in order; handles, as their tape entries matter. Under the
  // thread's autograd switches. The results may be the caller's own arrays where the graph says so.
  // Where values cross from device to device, operators run on copies of what lies elsewhere, those
  // of a group where it belongs; `groups` is null where all is to lie on `device`. `states`: one
  // per node, of whoever binds the graph; none where nothing is kept from run to run.
  std::vector<NDArray> run(std::span<NDArray* const> variables, Device device,
                           const Observer* observer = nullptr, const DeviceGroups* groups = nullptr,
                           std::span<NodeState> states = {}) const;

 private:
  // Arrays for the results of operators that do not say themselves how large these are.
  void make_open_arrays(std::span<NDArray* const> variables, Device device,
                        std::span<NDArray> made) const;

  const IndexedGraph graph_;
  std::vector<ParsedAttrsRef> parsed_;  // per node; null for variables
  std::vector<const ArrayOp*> bodies_;  // per node; null for other operators
  std::vector<int> last_use_;           // per entry: node
  std::vector<int> zero_sizes_;         // nodes whose shapes have a 0: unknown, see graph/infer.h
  bool dynamic_ = false;
};

}  // namespace mxnet
