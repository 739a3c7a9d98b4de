// SPDX-License-Identifier: Apache-2.0
// The memory of arrays, compared.
#include "exec/shared_arrays.h"

#include <algorithm>

#include "exec/chunk_set.h"
#include "op/op_def.h"

namespace mxnet {

bool overlap(const NDArray& a, const NDArray& b) {
  return a.chunk() == b.chunk() && a.offset() < b.offset() + b.bytes() &&
         b.offset() < a.offset() + a.bytes();
}

WrittenVariables::WrittenVariables(const IndexedGraph& graph, const IndexedGraph& variables) {
  std::vector<bool> written(static_cast<std::size_t>(variables.num_nodes()));
  for (int n = 0; n < graph.num_nodes(); ++n) {
    const ir::Node& node = graph.node(n);
    if (node.is_variable()) continue;
    const void* const params = node.params.get();
    for (const std::vector<int>& inputs :
         {node.op->mutated_inputs(params), node.op->clobbered_inputs(params),
          node.op->state_inputs(params)})
      for (const int i : inputs)
        if (const ir::Node& from = *node.inputs[static_cast<std::size_t>(i)].node;
            from.is_variable())
          written[static_cast<std::size_t>(variables.index_of(from))] = true;
  }
  const std::span<const int> nodes = variables.variables();
  for (std::size_t v = 0; v < nodes.size(); ++v)
    (written[static_cast<std::size_t>(nodes[v])] ? written_ : others_).push_back(v);
}

bool WrittenVariables::shared(std::span<const NDArray* const> arrays) const {
  if (written_.empty()) return false;
  ChunkSet seen(written_.size());
  const auto is_written_elsewhere = [&](std::size_t v) {
    return seen.contains(arrays[v]->chunk().get()) &&
           std::ranges::any_of(
               written_, [&](std::size_t w) { return w != v && overlap(*arrays[w], *arrays[v]); });
  };
  for (const std::size_t v : written_) {
    if (is_written_elsewhere(v)) return true;
    seen.insert(arrays[v]->chunk().get());
  }
  return std::ranges::any_of(others_, is_written_elsewhere);
}

}  // namespace mxnet
