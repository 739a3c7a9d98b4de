// SPDX-License-Identifier: Apache-2.0
// Values that follow from the graph alone: computed when it is compiled, not in each run.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "graph/indexed_graph.h"
#include "ndarray/ndarray.h"
#include "op/infer.h"

namespace mxnet {

struct FoldOptions {
  // Larger values stay operators: a constant takes memory for as long as its plan lives, and one
  // that leaves the cache costs as much to read as most operators that make constants.
  std::size_t value_bytes = std::size_t{64} << 10;
  std::size_t total_bytes = std::size_t{1} << 20;  // of all that is computed
  // The results of a node, one per output, complete when it returns. Inputs of which only the type
  // is needed are none. No value = leave the node as it is: whoever runs it sees why.
  std::function<std::optional<std::vector<NDArray>>(
      const ir::Node& node, std::span<const NDArray> inputs, std::span<const ArrayType> in_types,
      std::span<const ArrayType> out_types)>
      evaluate;
  bool training = false;  // whether what is random only then draws
  // Numbers are drawn, too, of which only the type is asked.
  bool dead_draws = false;
  // Where a value lies for those who run the graph; null = where it was computed.
  std::function<NDArray(const NDArray&)> place;
};

// The graph with constants (op/create/constant.h) for whatever depends on no variable's value: what
// makes arrays (_arange, _zeros, ...), asks for types (shape_array, ones_like, ...) or computes
// with constants. What draws random numbers or writes states stays, and so does what only asks for
// the type of something drawn where the draws would change places without it.
// `types` (one per entry) are complete.
ir::Graph fold_constants(const IndexedGraph& graph, const std::vector<ArrayType>& types,
                         const FoldOptions& options);

}  // namespace mxnet
