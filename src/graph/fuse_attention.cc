// SPDX-License-Identifier: Apache-2.0
// From the weighted values back to the products.
#include "graph/fuse_attention.h"

#include <memory>

#include "graph/entry_uses.h"
#include "graph/rewrite.h"
#include "op/op_def.h"
#include "op/params/softmax_params.h"
#include "op/rnn/heads.h"

namespace mxnet {
namespace {

// Of heads that libraries compute at once: whole vectors of 16 bytes, and no longer than that.
constexpr int64_t kSizeUnit = 8, kMostSize = 128;

bool is(const ir::Node& node, const char* op) {
  return !node.is_variable() && node.op->name() == op && node.control_deps().empty();
}
template <class P>
const P& params_of(const ir::Node& node) {
  return *static_cast<const P*>(node.params.get());
}

class Fuser {
 public:
  Fuser(const IndexedGraph& graph, const std::vector<ArrayType>& types)
      : graph_(graph), types_(types), uses_(entry_uses(graph)) {}

  // Replaced inputs are looked up in `node`, all else in the graph as it was.
  Replacement replace(const ir::Node& original, const Ref<ir::Node>& node) const {
    const bool self = is(original, "_contrib_interleaved_matmul_selfatt_valatt");
    if (!self && !is(original, "_contrib_interleaved_matmul_encdec_valatt")) return std::nullopt;
    const ir::Node* const softmax = made_for_one(original.inputs[1], "softmax");
    if (softmax == nullptr || !is_plain(*softmax)) return std::nullopt;
    const ir::Node* const products =
        made_for_one(softmax->inputs[0], self ? "_contrib_interleaved_matmul_selfatt_qk"
                                              : "_contrib_interleaved_matmul_encdec_qk");
    if (products == nullptr || !(products->inputs.back() == original.inputs[0]))
      return std::nullopt;
    auto params = std::make_shared<HeadsParams>();
    params->heads = params_of<HeadsParams>(original).heads;
    params->self = self;
    params->scale = 1.0 / params_of<SoftmaxParams>(*softmax).temperature.value_or(1.0);
    if (params_of<HeadsParams>(*products).heads != params->heads ||
        !is_worth_it(original, *products, *params))
      return std::nullopt;
    Ref<ir::Node> fused = make_ref<ir::Node>();
    fused->op = &Registry::get().at(HeadsParams::kFused);
    fused->name = original.name;
    // Nothing between has been replaced: this pass replaces values only.
    fused->inputs = node->inputs[1].node->inputs[0].node->inputs;
    fused->params = std::move(params);
    return std::vector<ir::Entry>{{fused, 0, 0}};
  }

 private:
  const ArrayType& type(const ir::Entry& entry) const {
    return types_[static_cast<std::size_t>(graph_.entry(entry))];
  }
  // The node that makes a value which nobody else reads, if it is one of `op`.
  const ir::Node* made_for_one(const ir::Entry& entry, const char* op) const {
    const bool found = uses_[static_cast<std::size_t>(graph_.entry(entry))] == 1;
    return found && is(*entry.node, op) ? entry.node.get() : nullptr;
  }
  // Along the keys, of all of them, in the type of the products.
  bool is_plain(const ir::Node& softmax) const {
    const auto& params = params_of<SoftmaxParams>(softmax);
    return (params.axis == -1 || params.axis == 2) && !params.use_length.value_or(false) &&
           (params.dtype == DType::kUnknown || params.dtype == type(softmax.inputs[0]).dtype);
  }
  bool is_worth_it(const ir::Node& values, const ir::Node& products,
                   const HeadsParams& params) const {
    const ArrayType& in = type(products.inputs[0]);
    const Interleaved queries(in.shape, params.heads, params.roles().query_parts());
    const Shape& keys = type(values.inputs[0]).shape;
    const bool half = in.dtype == DType::kFloat16 || in.dtype == DType::kBFloat16;
    return half && queries.size % kSizeUnit == 0 && queries.size <= kMostSize &&
           in.shape.size() > 0 && keys.size() > 0;
  }

  const IndexedGraph& graph_;
  const std::vector<ArrayType>& types_;
  const std::vector<int> uses_;
};

}  // namespace

ir::Graph fuse_attention(const IndexedGraph& graph, const std::vector<ArrayType>& types) {
  const Fuser fuser(graph, types);
  return rewrite(graph.graph(), [&](const ir::Node& original, const Ref<ir::Node>& node) {
    return fuser.replace(original, node);
  });
}

}  // namespace mxnet
