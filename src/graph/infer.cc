// SPDX-License-Identifier: Apache-2.0
// Sweeps over a graph, forwards and backwards, each node by its operator's own rule.
#include "graph/infer.h"

#include <fmt/format.h>

#include "base/error.h"
#include "op/inline_vector.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

bool same(const ArrayType& a, const ArrayType& b) {
  return a.dtype == b.dtype && a.shape == b.shape;
}

class Sweeper {
 public:
  Sweeper(const IndexedGraph& graph, std::vector<ArrayType>* types)
      : graph_(graph), types_(*types), settled_(static_cast<std::size_t>(graph.num_nodes())) {}

  // True when something was learnt.
  bool forward() {
    bool learnt = false;
    for (int n = 0; n < graph_.num_nodes(); ++n) learnt |= visit(n);
    return learnt;
  }
  bool backward() {
    bool learnt = false;
    for (int n = graph_.num_nodes() - 1; n >= 0; --n) learnt |= visit(n);
    return learnt;
  }
  bool complete() const {
    for (const ArrayType& type : types_)
      if (!type.complete()) return false;
    return true;
  }

 private:
  ArrayType& type(int entry) { return types_[static_cast<std::size_t>(entry)]; }

  bool visit(int n) {
    const ir::Node& node = graph_.node(n);
    if (node.is_variable() || settled_[static_cast<std::size_t>(n)]) return false;
    const std::span<const int> inputs = graph_.inputs(n);
    const int num_out = graph_.num_outputs(n);
    InlineVector<ArrayType, 8> local;
    for (int entry : inputs) local.emplace_back(type(entry));
    for (int o = 0; o < num_out; ++o) local.emplace_back(type(graph_.first_entry(n) + o));
    const std::span<ArrayType> in = local.span().first(inputs.size());
    const std::span<ArrayType> out = local.span().subspan(inputs.size());
    Infer infer(*node.op, node.params.get(), in, out);
    try {
      node.op->infer(node.params.get(), infer);
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("{}({})", node.name, node.op->name()),
                  explain(n, error));
    }
    bool learnt = false, complete = true;
    const auto store = [&](int entry, const ArrayType& found) {
      complete &= found.complete();
      if (same(type(entry), found)) return;
      type(entry) = found;
      learnt = true;
    };
    for (std::size_t i = 0; i < inputs.size(); ++i) store(inputs[i], in[i]);
    for (int o = 0; o < num_out; ++o)
      store(graph_.first_entry(n) + o, out[static_cast<std::size_t>(o)]);
    settled_[static_cast<std::size_t>(n)] = complete && !learnt;
    return learnt;
  }

  // The complaint, and the values that led to it, nearest first.
  std::string explain(int n, const Error& error) const {
    std::string text = error.what();
    for (int entry : graph_.inputs(n)) {
      const ir::Node& source = graph_.node(graph_.node_of(entry));
      const ArrayType& type = types_[static_cast<std::size_t>(entry)];
      text += fmt::format("\n  input {}{}: {} {}", source.name,
                          source.is_variable() ? "" : fmt::format(" ({})", source.op->name()),
                          dtype_name(type.dtype), to_string(type.shape));
    }
    return text;
  }

  const IndexedGraph& graph_;
  std::vector<ArrayType>& types_;
  std::vector<bool> settled_;  // all known, and the rule has confirmed it
};

}  // namespace

bool infer_graph(const IndexedGraph& graph, std::vector<ArrayType>* types) {
  MX_ASSERT(static_cast<int>(types->size()) == graph.num_entries());
  Sweeper sweeper(graph, types);
  while (sweeper.forward() && !sweeper.complete() && sweeper.backward()) {
  }
  return sweeper.complete();
}

}  // namespace mxnet
