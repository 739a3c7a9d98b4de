// SPDX-License-Identifier: Apache-2.0
// Forward values that backward computes again instead of keeping them: memory for time.
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

#include "graph/indexed_graph.h"
#include "op/infer.h"

namespace mxnet {

struct MirrorOptions {
  bool cheap = false;     // operators that cost little are computed again
  bool segments = false;  // so is everything between a few values that are kept
  // With segments: gradients may be computed one by one (graph/split_gradients.h).
  bool split = false;
  // With segments: bytes to stay under with as little recomputation as possible; 0 = as few bytes
  // as possible.
  std::size_t budget = 0;
  // Bytes that a graph (with the types of its entries) needs: what is compared.
  std::function<std::size_t(const IndexedGraph&, const std::vector<ArrayType>&)> bytes;
};

// The graph (outputs from `forward_outputs` on are gradients) or one that computes the same in
// fewer bytes. Operators that draw random numbers or write states run once in either. `types` are
// complete.
ir::Graph mirror(const IndexedGraph& graph, const std::vector<ArrayType>& types,
                 int forward_outputs, const MirrorOptions& options);

}  // namespace mxnet
