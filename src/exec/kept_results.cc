// SPDX-License-Identifier: Apache-2.0
// Versions count writes of the engine, whoever asked for them.
#include "exec/kept_results.h"

#include <algorithm>

#include "engine/engine.h"
#include "op/kept_results.h"
#include "op/op_def.h"

namespace mxnet {

std::vector<bool> kept_nodes(const IndexedGraph& graph, const PlanOptions& options) {
  std::vector<bool> kept;
  if (!options.device.is_gpu() || options.training ||
      options.forward_outputs < static_cast<int>(graph.outputs().size()))
    return kept;
  std::vector<bool> given(static_cast<std::size_t>(graph.num_entries()));
  for (const int n : graph.variables())
    given[static_cast<std::size_t>(graph.first_entry(n))] = true;
  for (int n = 0; n < graph.num_nodes(); ++n)
    for (const int entry : graph.mutated(n)) given[static_cast<std::size_t>(entry)] = false;
  const auto is_kept = [&](int n) {
    const ir::Node& node = graph.node(n);
    return !node.is_variable() && keeps_results(*node.op) && !graph.inputs(n).empty() &&
           std::ranges::all_of(graph.inputs(n),
                               [&](int entry) { return given[static_cast<std::size_t>(entry)]; }) &&
           std::ranges::none_of(graph.outputs(),
                                [&](int entry) { return graph.node_of(entry) == n; });
  };
  for (int n = 0; n < graph.num_nodes(); ++n) {
    if (!is_kept(n)) continue;
    kept.resize(static_cast<std::size_t>(graph.num_nodes()));
    kept[static_cast<std::size_t>(n)] = true;
  }
  return kept;
}

KeptResults::KeptResults(const Plan& plan) : sources_(plan.memory().kept.size()) {
  for (int k = 0; k < static_cast<int>(sources_.size()); ++k) {
    const ArrayType& type = plan.kept_type(k);
    arrays_.emplace_back(type.shape, type.dtype, plan.options().device, "kept weights");
  }
}

bool KeptResults::is_current(int kept, std::span<const NDArray> inputs) const {
  const std::vector<Source>& sources = sources_[static_cast<std::size_t>(kept)];
  if (sources.size() != inputs.size()) return false;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const NDArray& array = sources[i].array;
    if (inputs[i].var() != array.var() || inputs[i].data() != array.data() ||
        !array.chunk()->counts_all_writes() ||
        Engine::get().version(array.var()) != sources[i].version)
      return false;
  }
  return true;
}

void KeptResults::computed(int kept, std::span<const NDArray> inputs) {
  for (const NDArray& input : inputs)
    sources_[static_cast<std::size_t>(kept)].push_back({input, Engine::get().version(input.var())});
}

}  // namespace mxnet
