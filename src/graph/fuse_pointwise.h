// SPDX-License-Identifier: Apache-2.0
// Neighbouring pointwise operators become one node that takes a tile through all of them.
#pragma once
#include <climits>
#include <functional>
#include <unordered_map>
#include <vector>

#include "graph/indexed_graph.h"
#include "op/infer.h"

namespace mxnet {

struct PointwiseOptions {
  // Nodes that the first outputs need are not mixed with others.
  int forward_outputs = INT_MAX;
  // Operators in one, in the forward part and in the other; below two none are fused.
  int most_forward = kMost, most_backward = kMost;
  // Nodes for which it answers true stay as they are.
  std::function<bool(int)> fixed;

  static constexpr int kMost = 64;  // parameters stay small, and so does what a plan keeps alive
};

struct PointwiseFusion {
  ir::Graph graph;
  // Numbers that nodes had, for those that are still there or have only other inputs.
  std::unordered_map<const ir::Node*, int> kept;
  bool changed = false;
};

// `types` are complete. Values of a group that somebody else reads are outputs of its node. The
// graph given is not changed; results do not change in any bit. (MXNET_USE_FUSION)
PointwiseFusion fuse_pointwise(const IndexedGraph& graph, const std::vector<ArrayType>& types,
                               const PointwiseOptions& options);

}  // namespace mxnet
