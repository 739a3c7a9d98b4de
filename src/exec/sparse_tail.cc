// SPDX-License-Identifier: Apache-2.0
// The cut lies where values become sparse.
#include "exec/sparse_tail.h"

#include <algorithm>
#include <map>

#include "exec/storage_types.h"
#include "graph/symbol.h"

namespace mxnet {
namespace {

// By node: whether it makes something sparse that is read by such nodes alone. Empty if none does.
std::vector<bool> sparse_nodes(const IndexedGraph& graph, int forward_outputs, Device device) {
  const std::vector<StorageType> storage = infer_storage(graph, {}, device);
  std::vector<bool> sparse(static_cast<std::size_t>(graph.num_nodes()));
  const auto node_of = [&](int entry) { return static_cast<std::size_t>(graph.node_of(entry)); };
  for (std::size_t entry = 0; entry < storage.size(); ++entry)
    if (storage[entry] == StorageType::kRowSparse) sparse[node_of(static_cast<int>(entry))] = true;
  const std::span<const int> outputs = graph.outputs();
  for (int entry : outputs.first(static_cast<std::size_t>(forward_outputs)))
    sparse[node_of(entry)] = false;
  for (int n = graph.num_nodes(); n-- > 0;)
    if (!sparse[static_cast<std::size_t>(n)])
      for (int entry : graph.inputs(n)) sparse[node_of(entry)] = false;
  if (std::ranges::none_of(outputs, [&](int entry) { return sparse[node_of(entry)]; })) return {};
  return sparse;
}

}  // namespace

void SparseTail::run(const Values& values, Device home, const std::vector<bool>& wants,
                     std::vector<NDArray>* grads) const {
  std::vector<NDArray> read;  // without the tape
  std::vector<NDArray*> variables;
  read.reserve(sources.size());  // addresses stay
  variables.reserve(sources.size());
  for (int source : sources) {
    auto at = static_cast<std::size_t>(source);
    std::span<const NDArray> arrays = values.inputs;
    for (const std::span<const NDArray> next : {values.output_grads, values.cuts}) {
      if (at < arrays.size()) break;
      at -= arrays.size();
      arrays = next;
    }
    variables.push_back(&read.emplace_back(arrays[at].detach()));
  }
  std::vector<NDArray> made = graph.run(variables, home);
  auto next = made.begin();
  for (std::size_t i = 0, wanted = 0; i < wants.size(); ++i)
    if (wants[i] && computes[wanted++]) (*grads)[i] = std::move(*next++);
}

std::unique_ptr<SparseTail> cut_sparse_gradients(TrainingGraph* training, Device device) {
  const IndexedGraph graph(training->graph);
  const std::vector<bool> sparse = sparse_nodes(graph, training->forward_outputs, device);
  if (sparse.empty()) return nullptr;
  std::map<const ir::Node*, Ref<ir::Node>> copies;
  std::map<int, Ref<ir::Node>> stand_ins;
  std::vector<Ref<ir::Node>> cuts;
  std::vector<ir::Entry> cut_values;
  const auto in_tail = [&](int entry, const ir::Entry& input) -> ir::Entry {
    if (const auto copy = copies.find(input.node.get()); copy != copies.end())
      return {copy->second, input.index, 0};
    if (input.node->is_variable()) return input;
    Ref<ir::Node>& stand_in = stand_ins[entry];
    if (!stand_in) {
      stand_in = make_ref<ir::Node>();
      stand_in->name = input.node->name;
      cuts.push_back(stand_in);
      cut_values.push_back(input);
    }
    return {stand_in, 0, 0};
  };
  for (int n = 0; n < graph.num_nodes(); ++n) {
    if (!sparse[static_cast<std::size_t>(n)]) continue;
    const Ref<ir::Node> copy = copy_node(graph.node(n));
    for (std::size_t i = 0; i < copy->inputs.size(); ++i)
      copy->inputs[i] = in_tail(graph.inputs(n)[i], copy->inputs[i]);
    copies[&graph.node(n)] = copy;
  }
  ir::Graph tail, plan;
  std::vector<bool> computes;
  for (std::size_t o = 0; o < training->graph.outputs.size(); ++o) {
    const ir::Entry& output = training->graph.outputs[o];
    const auto copy = copies.find(output.node.get());
    if (o >= static_cast<std::size_t>(training->forward_outputs))
      computes.push_back(copy != copies.end());
    if (copy != copies.end()) {
      tail.outputs.push_back({copy->second, output.index, 0});
    } else {
      plan.outputs.push_back(output);
    }
  }
  plan.outputs.insert(plan.outputs.end(), cut_values.begin(), cut_values.end());
  training->graph = std::move(plan);
  return std::make_unique<SparseTail>(EagerGraph(IndexedGraph(std::move(tail))),
                                      std::move(computes), std::move(cuts), std::vector<int>());
}

}  // namespace mxnet
