// SPDX-License-Identifier: Apache-2.0
// What passes share that let one layer take in the operators behind it, node by node: a convolution
// (fuse_conv.cc), a fully connected layer (fuse_dense.cc).
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/casts.h"
#include "graph/entry_uses.h"
#include "graph/indexed_graph.h"
#include "graph/rewrite.h"
#include "op/fused/post_op.h"
#include "op/op_def.h"

namespace mxnet {

// One walk over one graph; not thread-safe. `Params` are those of the fused operator: `post_ops`,
// `sum`, `op_name()`.
template <class Params>
class GrowingLayers {
 public:
  // A fused node that may still grow.
  struct Grown {
    std::shared_ptr<const Params> params;
    std::vector<ir::Entry> inputs;
    std::vector<ArrayType> types;  // of the inputs
    std::string name;
  };

  // `accepts` says what the library computes in one node.
  GrowingLayers(const IndexedGraph& graph, const std::vector<ArrayType>& types,
                bool (*accepts)(const Params&, const Signature&))
      : graph_(graph), types_(types), accepts_(accepts), uses_(entry_uses(graph)) {}

  int entry_of(const ir::Node& original, std::size_t input) const {
    return graph_.entry(original.inputs[input]);
  }
  const ArrayType& type(int entry) const { return types_[static_cast<std::size_t>(entry)]; }
  const ArrayType& out_type(const ir::Node& original) const {
    return type(graph_.first_entry(graph_.index_of(original)));
  }
  // Nobody reads outputs from the second on.
  bool only_first_output(const ir::Node& original) const {
    const int n = graph_.index_of(original), first = graph_.first_entry(n);
    for (int o = 1; o < graph_.num_outputs(n); ++o)
      if (uses(first + o) > 0) return false;
    return true;
  }
  // The layer that makes an input, if this node is its only reader.
  const Grown* grown(const ir::Node& original, const ir::Node& node, std::size_t input) const {
    if (uses(entry_of(original, input)) != 1) return nullptr;
    const auto at = grown_.find(node.inputs[input].node.get());
    return at == grown_.end() ? nullptr : &at->second;
  }

  // The layer alone. Weights and bias are read before a conversion: packing them converts, once.
  Replacement begin(const ir::Node& original, const ir::Node& node,
                    std::shared_ptr<const Params> params) {
    Grown start, converted;
    start.inputs = node.inputs;
    for (std::size_t i = 0; i < original.inputs.size(); ++i)
      start.types.push_back(type(entry_of(original, i)));
    start.name = original.name;
    converted = start;
    for (std::size_t i = 1; i < original.inputs.size(); ++i) {
      const ir::Node& weight = *original.inputs[i].node;
      if (!is_cast(weight) || !weight.inputs[0].node->is_variable()) continue;
      converted.inputs[i] = weight.inputs[0];
      converted.types[i] = type(entry_of(weight, 0));
    }
    if (converted.inputs != start.inputs)
      if (Replacement result = become(original, std::move(converted), params)) return result;
    return become(original, std::move(start), std::move(params));
  }

  Replacement with_activation(const ir::Node& original, const ir::Node& node) {
    const std::optional<PostOp> activation = activation_of(*original.op, original.params.get());
    if (!activation) return std::nullopt;
    const Grown* layer = grown(original, node, 0);
    if (layer == nullptr) return std::nullopt;
    auto params = std::make_shared<Params>(*layer->params);
    params->post_ops.push_back(*activation);
    return become(original, *layer, std::move(params));
  }

  Replacement with_sum(const ir::Node& original, const ir::Node& node) {
    for (const std::size_t side : {1u, 0u}) {
      const Grown* layer = grown(original, node, side);
      const ArrayType& other = type(entry_of(original, 1 - side));
      const ArrayType& out = out_type(original);
      if (layer == nullptr || layer->params->sum || other.shape != out.shape ||
          type(entry_of(original, side)).shape != out.shape || other.dtype != out.dtype)
        continue;
      Grown more = *layer;
      auto params = std::make_shared<Params>(*layer->params);
      params->sum = true;
      params->post_ops.push_back({PostOp::Kind::kSum});
      more.inputs.insert(more.inputs.begin() + 1, node.inputs[1 - side]);
      more.types.insert(more.types.begin() + 1, other);
      if (Replacement result = become(original, std::move(more), std::move(params))) return result;
    }
    return std::nullopt;
  }

  // The node that computes all of `what`, in the place of `original`; none where that is not
  // accepted.
  Replacement become(const ir::Node& original, Grown what, std::shared_ptr<const Params> params) {
    std::vector<Tensor> in;
    in.reserve(what.types.size());
    for (const ArrayType& t : what.types) in.push_back({nullptr, &t.shape, t.dtype});
    const ArrayType& result = out_type(original);
    const Tensor out{nullptr, &result.shape, result.dtype};
    if (!accepts_(*params, {in, {&out, 1}, false})) return std::nullopt;
    auto node = make_ref<ir::Node>();
    node->op = &Registry::get().at(params->op_name());
    if (what.name != original.name) what.name += "+" + original.name;
    node->name = what.name;
    node->params = params;
    node->inputs = what.inputs;
    what.params = std::move(params);
    grown_.emplace(node.get(), std::move(what));
    return std::vector<ir::Entry>{{node, 0, 0}};
  }

 private:
  int uses(int entry) const { return uses_[static_cast<std::size_t>(entry)]; }

  const IndexedGraph& graph_;
  const std::vector<ArrayType>& types_;
  bool (*const accepts_)(const Params&, const Signature&);
  const std::vector<int> uses_;  // per entry
  std::unordered_map<const ir::Node*, Grown> grown_;
};

// An operator that adds two values, whatever it does where their shapes differ.
inline bool adds_two(const ir::Node& node) {
  const std::string& op = node.op->name();
  return op == "elemwise_add" || op == "broadcast_add" || op == "_npi_add";
}

}  // namespace mxnet
