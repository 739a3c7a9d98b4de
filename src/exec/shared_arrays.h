// SPDX-License-Identifier: Apache-2.0
// Arrays that a caller gives a graph twice. A plan orders who reads and who writes one variable; it
// cannot know that two variables are one array.
#pragma once
#include <span>
#include <vector>

#include "graph/indexed_graph.h"
#include "ndarray/ndarray.h"

namespace mxnet {

// Whether some bytes belong to both.
bool overlap(const NDArray& a, const NDArray& b);

// The variables that a run of a graph, or of its gradients, writes. Immutable.
class WrittenVariables {
 public:
  // `variables`: has those of `graph`, maybe in another order, that of the arrays.
  WrittenVariables(const IndexedGraph& graph, const IndexedGraph& variables);
  // Whether what is written is that of another variable, too. One array for each variable; cheap
  // enough for every call.
  bool shared(std::span<const NDArray* const> arrays) const;

 private:
  std::vector<std::size_t> written_, others_;  // positions among the variables
};

}  // namespace mxnet
