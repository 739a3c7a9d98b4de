// SPDX-License-Identifier: Apache-2.0
// The graph inside a node of control flow: what it makes of types, and of arrays.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "exec/imperative.h"
#include "graph/indexed_graph.h"

namespace mxnet {

class CachedOp;

// Immutable; any number of threads may run it. Inputs are the graph's variables in order.
class GraphBody {
 public:
  explicit GraphBody(const ir::Graph& graph);
  ~GraphBody();

  int num_inputs() const { return static_cast<int>(graph_.variables().size()); }
  int num_outputs() const { return static_cast<int>(graph_.outputs().size()); }
  // Both spans take what is known and get what follows from it.
  void infer(std::span<ArrayType> inputs, std::span<ArrayType> outputs) const;
  // Under the thread's autograd switches.
  std::vector<NDArray> run(std::span<NDArray* const> inputs, Device device) const;

 private:
  const IndexedGraph graph_;
  const std::unique_ptr<CachedOp> op_;
};

// Which input of the node each input of the body is; throws Error(kValue, op) unless `locations`
// are `count` positions below `limit`.
void check_locations(const char* op, const char* name, std::span<const int64_t> locations,
                     int64_t count, int64_t limit);

// What is known of inputs and outputs of a node, for GraphBody::infer and back.
ArrayType type_of(InferArg arg);
void learn(InferArg arg, const ArrayType& type);

}  // namespace mxnet
