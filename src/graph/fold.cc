// SPDX-License-Identifier: Apache-2.0
// Values first, in the order of the graph; then constants for those that somebody else reads.
#include "graph/fold.h"

#include <algorithm>
#include <unordered_map>

#include "graph/rewrite.h"
#include "op/create/constant.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

class Folder {
 public:
  // `lasting`, ascending: draws from which what follows is not folded.
  Folder(const IndexedGraph& graph, const std::vector<ArrayType>& types, const FoldOptions& options,
         std::span<const int> lasting)
      : graph_(graph), types_(types), options_(options), values_(types.size()) {
    for (int n = 0; n < graph.num_nodes(); ++n) {
      for (int entry : graph.mutated(n)) written_.push_back(graph.node_of(entry));
      const ir::Node& node = graph.node(n);
      if (node.is_variable()) continue;
      for (int i : node.op->clobbered_inputs(node.params.get()))
        written_.push_back(graph.node_of(graph.inputs(n)[static_cast<std::size_t>(i)]));
    }
    std::sort(written_.begin(), written_.end());
    find_drawn(lasting);
    for (int n = 0; n < graph.num_nodes(); ++n)
      if (follows_from_types(n) && fits(n)) compute(n);
  }

  // The graph with constants; tells the draws that it makes, in its order.
  ir::Graph fold(std::vector<int>* draws) const {
    std::unordered_map<const ir::Node*, int> originals;
    ir::Graph folded =
        rewrite(graph_.graph(), [&](const ir::Node& original, const Ref<ir::Node>& now) {
          const int n = graph_.index_of(original);
          if (this->draws(n)) originals[now.get()] = n;
          return replace(n);
        });
    for (const ir::Node* node : ir::topological_order(folded.outputs))
      if (const auto at = originals.find(node); at != originals.end()) draws->push_back(at->second);
    return folded;
  }
  std::vector<int> all_draws() const {
    std::vector<int> all;
    for (int n = 0; n < graph_.num_nodes(); ++n)
      if (draws(n)) all.push_back(n);
    return all;
  }

 private:
  bool draws(int n) const {
    const ir::Node& node = graph_.node(n);
    return !node.is_variable() && node.op->uses_random(node.params.get(), options_.training);
  }
  Replacement replace(int n) const {
    if (!known(n)) return std::nullopt;
    std::vector<ir::Entry> outputs;
    outputs.reserve(static_cast<std::size_t>(graph_.num_outputs(n)));
    for (int o = 0; o < graph_.num_outputs(n); ++o)
      outputs.push_back(
          {make_constant(graph_.node(n).name, placed(graph_.first_entry(n) + o)), 0, 0});
    return outputs;
  }
  void find_drawn(std::span<const int> lasting) {
    if (lasting.empty()) return drawn_.resize(static_cast<std::size_t>(graph_.num_nodes()));
    for (int n = 0; n < graph_.num_nodes(); ++n) {
      bool drawn = std::ranges::binary_search(lasting, n);
      for (int e : graph_.inputs(n)) drawn |= drawn_[static_cast<std::size_t>(graph_.node_of(e))];
      drawn_.push_back(drawn);
    }
  }

  const NDArray& value(int entry) const { return values_[static_cast<std::size_t>(entry)]; }
  NDArray placed(int entry) const {
    return options_.place ? options_.place(value(entry)) : value(entry);
  }
  const ArrayType& type(int entry) const { return types_[static_cast<std::size_t>(entry)]; }
  bool known(int n) const {
    return graph_.num_outputs(n) > 0 && !value(graph_.first_entry(n)).is_none();
  }

  // No variable's value, random number or state has a part in the results.
  bool follows_from_types(int n) const {
    const ir::Node& node = graph_.node(n);
    if (node.is_variable() || is_constant(node) || node.extras || node.op->mutates_inputs() ||
        node.op->clobbers_inputs() || node.op->uses_random(node.params.get(), /*training=*/true) ||
        std::binary_search(written_.begin(), written_.end(), n) ||
        drawn_[static_cast<std::size_t>(n)])
      return false;
    const std::span<const int> inputs = graph_.inputs(n);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (!node.op->type_only(static_cast<int>(i)) && !known(graph_.node_of(inputs[i])))
        return false;
    return true;
  }

  bool fits(int n) {
    std::size_t bytes = 0;
    for (int o = 0; o < graph_.num_outputs(n); ++o) {
      const ArrayType& out = type(graph_.first_entry(n) + o);
      const auto here = static_cast<std::size_t>(out.shape.size()) * dtype_size(out.dtype);
      if (here == 0 || here > options_.value_bytes) return false;
      bytes += here;
    }
    if (bytes_ + bytes > options_.total_bytes) return false;
    bytes_ += bytes;
    return true;
  }

  void compute(int n) {
    const ir::Node& node = graph_.node(n);
    std::vector<NDArray> inputs;
    std::vector<ArrayType> in, out;
    const std::span<const int> entries = graph_.inputs(n);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const bool only_type = node.op->type_only(static_cast<int>(i));
      inputs.push_back(only_type ? NDArray() : value(entries[i]));
      in.push_back(type(entries[i]));
    }
    for (int o = 0; o < graph_.num_outputs(n); ++o) out.push_back(type(graph_.first_entry(n) + o));
    std::optional<std::vector<NDArray>> results = options_.evaluate(node, inputs, in, out);
    if (!results) return;
    for (std::size_t o = 0; o < results->size(); ++o)
      values_[static_cast<std::size_t>(graph_.first_entry(n)) + o] = std::move((*results)[o]);
  }

  const IndexedGraph& graph_;
  const std::vector<ArrayType>& types_;
  const FoldOptions& options_;
  std::vector<NDArray> values_;  // per entry; none = not known
  std::vector<int> written_;     // nodes whose results another one writes, sorted
  std::vector<bool> drawn_;      // per node: whether it follows from a lasting draw
  std::size_t bytes_ = 0;
};

}  // namespace

ir::Graph fold_constants(const IndexedGraph& graph, const std::vector<ArrayType>& types,
                         const FoldOptions& options) {
  const Folder folder(graph, types, options, {});
  std::vector<int> draws;
  ir::Graph folded = folder.fold(&draws);
  std::vector<int> lasting = options.dead_draws ? folder.all_draws() : draws;
  std::ranges::sort(lasting);
  if (draws == lasting) return folded;
  return Folder(graph, types, options, lasting).fold(&draws);
}

}  // namespace mxnet
