// SPDX-License-Identifier: Apache-2.0
// One walk over the graph: a layer grows node by node.
#include "graph/fuse_dense.h"

#include <memory>
#include <unordered_map>

#include "base/config.h"
#include "graph/entry_uses.h"
#include "graph/rewrite.h"
#include "op/fused/dense.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

class Fuser {
 public:
  Fuser(const IndexedGraph& graph, const std::vector<ArrayType>& types,
        const FuseDenseOptions& options)
      : graph_(graph), types_(types), options_(options), uses_(entry_uses(graph)) {}

  Replacement replace(const ir::Node& original, const Ref<ir::Node>& node) {
    if (original.is_variable() || !original.control_deps().empty()) return std::nullopt;
    const std::string& op = original.op->name();
    if (op == "FullyConnected") return from_layer(original, *node);
    if (options_.sum && (op == "elemwise_add" || op == "broadcast_add" || op == "_npi_add"))
      return with_sum(original, *node);
    if (options_.activation) return with_activation(original, *node);
    return std::nullopt;
  }

 private:
  // A fused node that may still grow.
  struct Grown {
    std::shared_ptr<const FusedDenseParams> params;
    std::vector<ir::Entry> inputs;
    std::vector<ArrayType> types;  // of the inputs
    std::string name;
  };

  int entry_of(const ir::Node& original, std::size_t input) const {
    return graph_.entry(original.inputs[input]);
  }
  const ArrayType& type(int entry) const { return types_[static_cast<std::size_t>(entry)]; }
  const ArrayType& out_type(const ir::Node& original) const {
    return type(graph_.first_entry(graph_.index_of(original)));
  }
  // The layer that makes an input, if this node is its only reader.
  const Grown* grown(const ir::Node& original, const ir::Node& node, std::size_t input) const {
    if (uses_[static_cast<std::size_t>(entry_of(original, input))] != 1) return nullptr;
    const auto at = grown_.find(node.inputs[input].node.get());
    return at == grown_.end() ? nullptr : &at->second;
  }

  Replacement from_layer(const ir::Node& original, const ir::Node& node) {
    Grown start;
    auto params = std::make_shared<FusedDenseParams>();
    params->dense = *static_cast<const FullyConnectedParams*>(original.params.get());
    start.inputs = node.inputs;
    for (std::size_t i = 0; i < original.inputs.size(); ++i)
      start.types.push_back(type(entry_of(original, i)));
    start.name = original.name;
    return become(original, std::move(start), std::move(params));
  }

  Replacement with_activation(const ir::Node& original, const ir::Node& node) {
    const std::optional<PostOp> activation = activation_of(*original.op, original.params.get());
    if (!activation) return std::nullopt;
    const Grown* layer = grown(original, node, 0);
    if (layer == nullptr) return std::nullopt;
    auto params = std::make_shared<FusedDenseParams>(*layer->params);
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
      auto params = std::make_shared<FusedDenseParams>(*layer->params);
      params->sum = true;
      params->post_ops.push_back({PostOp::Kind::kSum});
      more.inputs.insert(more.inputs.begin() + 1, node.inputs[1 - side]);
      more.types.insert(more.types.begin() + 1, other);
      if (Replacement result = become(original, std::move(more), std::move(params))) return result;
    }
    return std::nullopt;
  }

  // The node that computes all of `what`, in the place of `original`; none where oneDNN does not.
  Replacement become(const ir::Node& original, Grown what,
                     std::shared_ptr<const FusedDenseParams> params) {
    std::vector<Tensor> in;
    in.reserve(what.types.size());
    for (const ArrayType& t : what.types) in.push_back({nullptr, &t.shape, t.dtype});
    const ArrayType& result = out_type(original);
    const Tensor out{nullptr, &result.shape, result.dtype};
    if (!fused_dense_accepts(*params, {in, {&out, 1}, false})) return std::nullopt;
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

  const IndexedGraph& graph_;
  const std::vector<ArrayType>& types_;
  const FuseDenseOptions& options_;
  const std::vector<int> uses_;  // per entry
  std::unordered_map<const ir::Node*, Grown> grown_;
};

}  // namespace

FuseDenseOptions FuseDenseOptions::configured() {
  const OnednnConfig& rows = config().onednn;
  return {!rows.disable_fc_opt, !rows.disable_fuse_fc_eltwise, !rows.disable_fc_sum};
}

ir::Graph fuse_dense(const IndexedGraph& graph, const std::vector<ArrayType>& types,
                     const FuseDenseOptions& options) {
  if (!options.dense) return graph.graph();
  Fuser fuser(graph, types, options);
  return rewrite(graph.graph(), [&](const ir::Node& original, const Ref<ir::Node>& node) {
    return fuser.replace(original, node);
  });
}

}  // namespace mxnet
