// SPDX-License-Identifier: Apache-2.0
// One walk in the order of the graph. A widened node is followed by a conversion back for each of
// its results; whoever is widened too reads what lies before it, and a conversion that nobody reads
// is no part of the result.
#include "graph/widen.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/error.h"
#include "graph/rewrite.h"
#include "graph/symbol.h"
#include "graph/symbol_attributes.h"
#include "op/op_def.h"
#include "op/windows/pooling_geometry.h"

namespace mxnet {
namespace {

// Sums of products: what float32 is faster for.
constexpr const char* kLayers[] = {
    "BatchNorm",
    "Convolution",
    "Deconvolution",
    "FullyConnected",
    "Pooling",
    "RNN",
    "_contrib_interleaved_matmul_selfatt_qk",
    "_contrib_interleaved_matmul_selfatt_valatt",
    "batch_dot",
    "dot",
};

// What may lie between layers. Not here: what jumps (rounding, comparing, sorting), where values
// that are not rounded could give quite another result; whatever takes a type; custom operators and
// subgraphs, which see the types of their arrays; what takes a part of a weight (Embedding), all of
// which would be converted.
constexpr const char* kBetween[] = {
    "Activation",
    "BlockGrad",
    "Concat",
    "Crop",
    "Dropout",
    "Flatten",
    "GroupNorm",
    "InstanceNorm",
    "L2Normalization",
    "LRN",
    "LayerNorm",
    "LeakyReLU",
    "Pad",
    "Reshape",
    "SliceChannel",
    "SwapAxis",
    "UpSampling",
    "_contrib_BatchNormWithReLU",
    "_copy",
    "_div_scalar",
    "_minus_scalar",
    "_mul_scalar",
    "_npi_add",
    "_npi_add_scalar",
    "_npi_multiply",
    "_npi_multiply_scalar",
    "_npi_subtract",
    "_npi_true_divide_scalar",
    "_npx_relu",
    "_npx_sigmoid",
    "_plus_scalar",
    "_rdiv_scalar",
    "_rminus_scalar",
    "add_n",
    "broadcast_add",
    "broadcast_div",
    "broadcast_mul",
    "broadcast_sub",
    "clip",
    "elemwise_add",
    "elemwise_div",
    "elemwise_mul",
    "elemwise_sub",
    "erf",
    "exp",
    "expand_dims",
    "log_softmax",
    "mean",
    "negative",
    "relu",
    "sigmoid",
    "slice",
    "slice_axis",
    "softmax",
    "softsign",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "sum",
    "tanh",
    "transpose",
};

bool contains(std::span<const char* const> names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

using EntryKey = std::pair<const ir::Node*, int32_t>;
EntryKey key_of(const ir::Entry& entry) { return {entry.node.get(), entry.index}; }

class Widener {
 public:
  Widener(const IndexedGraph& graph, const std::vector<ArrayType>& types, bool training,
          const std::function<bool(DType)>& lacks)
      : graph_(graph), types_(types), training_(training), lacks_(lacks) {}

  // Where somebody writes values of half types, some of their readers only would see it; and nodes
  // that wait for others say that something is written, unless they take turns at random numbers.
  bool is_for_this_pass() const {
    for (int n = 0; n < graph_.num_nodes(); ++n) {
      const ir::Node& node = graph_.node(n);
      if (!node.control_deps().empty() &&
          (node.is_variable() || !node.op->uses_random(node.params.get(), training_)))
        return false;
      for (const int entry : graph_.mutated(n))
        if (lacks_(dtype(entry))) return false;
    }
    return true;
  }

  Replacement replace(const ir::Node& original, const Ref<ir::Node>& node) {
    if (node->is_variable()) return std::nullopt;
    const std::string& op = node->op->name();
    if (op == "Cast" || op == "amp_cast") return conversion(original, node);
    if (op == "amp_multicast") return conversions(original, node);
    if (!is_widened(original, *node)) return std::nullopt;
    const Ref<ir::Node> made = copy_node(*node);
    for (std::size_t i = 0; i < made->inputs.size(); ++i)
      if (lacks_(in_type(original, i))) made->inputs[i] = widened(made->inputs[i]);
    return results(original, made);
  }

 private:
  DType dtype(int entry) const { return types_[static_cast<std::size_t>(entry)].dtype; }
  DType in_type(const ir::Node& original, std::size_t i) const {
    return dtype(graph_.entry(original.inputs[i]));
  }
  DType out_type(const ir::Node& original, int o) const {
    return dtype(graph_.first_entry(graph_.index_of(original)) + o);
  }
  int num_outputs(const ir::Node& original) const {
    return graph_.num_outputs(graph_.index_of(original));
  }

  bool is_widened(const ir::Node& original, const ir::Node& node) const {
    const std::string& op = node.op->name();
    bool has_half = false, has_wide = contains(kLayers, op);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (!lacks_(in_type(original, i))) continue;
      has_half = true;
      has_wide = has_wide || wide_.contains(key_of(node.inputs[i]));
    }
    return has_half && has_wide && (contains(kLayers, op) || contains(kBetween, op)) &&
           !node.op->uses_random(node.params.get(), training_) && has_rule_for_float32(original) &&
           !(op == "Pooling" && gives_lowest(original));
  }

  // Whether a window sees nothing but padding, which rounding up leaves behind an image. Its
  // maximum is the lowest finite number of the type: that of float32 is infinite in a half type.
  bool gives_lowest(const ir::Node& original) const {
    const auto& params = *static_cast<const PoolParams*>(original.params.get());
    if (params.type != PoolKind::kMax) return false;
    const Shape& image = types_[static_cast<std::size_t>(graph_.entry(original.inputs[0]))].shape;
    const int first = graph_.first_entry(graph_.index_of(original));
    const PoolGeometry g =
        pool_geometry(params, image, types_[static_cast<std::size_t>(first)].shape);
    for (int i = 0; i < 3; ++i)
      if (g.window(i, g.map[static_cast<std::size_t>(i)] - 1).size() == 0) return true;
    return false;
  }

  // Whether results of half types become float32, and others stay what they are, where the half
  // types among the inputs become float32.
  bool has_rule_for_float32(const ir::Node& original) const {
    std::vector<ArrayType> in, out(static_cast<std::size_t>(num_outputs(original)));
    for (const ir::Entry& input : original.inputs) {
      in.push_back(types_[static_cast<std::size_t>(graph_.entry(input))]);
      if (lacks_(in.back().dtype)) in.back().dtype = DType::kFloat32;
    }
    Infer rule(*original.op, original.params.get(), in, out);
    try {
      original.op->infer(original.params.get(), rule);
    } catch (const Error&) {
      return false;
    }
    for (int o = 0; o < num_outputs(original); ++o) {
      const DType before = out_type(original, o);
      const DType expected = lacks_(before) ? DType::kFloat32 : before;
      if (out[static_cast<std::size_t>(o)].dtype != expected) return false;
    }
    return true;
  }

  // --- values ------------------------------------------------------------------------------------

  static ir::Entry cast(const ir::Entry& entry, DType dtype) {
    static const OpDef& op = Registry::get().at("Cast");
    auto node = make_ref<ir::Node>();
    node->op = &op;
    node->attrs = {{"dtype", std::string(dtype_name(dtype))}};
    parse_node(node.get());
    node->name = entry.node->name + "_" + std::string(dtype_name(dtype));
    node->inputs = {entry};
    return {std::move(node), 0, 0};
  }

  // From now on whoever is widened reads `wide` where it would read `half`.
  void remember(const ir::Entry& half, ir::Entry wide) {
    wide_.emplace(key_of(half), Wide{half, std::move(wide)});
  }
  ir::Entry widened(const ir::Entry& half) {
    const auto at = wide_.find(key_of(half));
    if (at != wide_.end()) return at->second.value;
    ir::Entry wide = cast(half, DType::kFloat32);
    remember(half, wide);
    return wide;
  }

  std::vector<ir::Entry> results(const ir::Node& original, const Ref<ir::Node>& made) {
    std::vector<ir::Entry> results;
    for (int o = 0; o < num_outputs(original); ++o) {
      const ir::Entry wide{made, o, 0};
      const DType dtype = out_type(original, o);
      results.push_back(lacks_(dtype) ? cast(wide, dtype) : wide);
      if (lacks_(dtype)) remember(results.back(), wide);
    }
    return results;
  }

  // --- conversions in the network ----------------------------------------------------------------

  // Cast rounds because somebody says so; amp_cast only names the type to compute in.
  Replacement conversion(const ir::Node& original, const Ref<ir::Node>& node) {
    const DType from = in_type(original, 0), to = out_type(original, 0);
    if (from == DType::kFloat32 && lacks_(to) && node->op->name() == "amp_cast")
      remember({node, 0, 0}, node->inputs[0]);
    if (to != DType::kFloat32 || !lacks_(from)) return std::nullopt;
    const auto at = wide_.find(key_of(node->inputs[0]));
    // A result is never one of the variables.
    if (at == wide_.end() || at->second.value.node->is_variable()) return std::nullopt;
    return std::vector<ir::Entry>{at->second.value};
  }

  Replacement conversions(const ir::Node& original, const Ref<ir::Node>& node) {
    std::vector<ir::Entry> results;
    for (int o = 0; o < num_outputs(original); ++o) {
      const ir::Entry& input = node->inputs[static_cast<std::size_t>(o)];
      const auto at = wide_.find(key_of(input));
      const bool known = at != wide_.end() && !at->second.value.node->is_variable();
      results.push_back({node, o, 0});
      if (!known) continue;
      if (out_type(original, o) == DType::kFloat32) {
        results.back() = at->second.value;
      } else if (lacks_(out_type(original, o))) {
        remember(results.back(), at->second.value);
      }
    }
    return results;
  }

  // `half` is held, so that its address stays its own.
  struct Wide {
    ir::Entry half, value;
  };

  const IndexedGraph& graph_;
  const std::vector<ArrayType>& types_;
  const bool training_;
  const std::function<bool(DType)>& lacks_;
  std::map<EntryKey, Wide> wide_;
};

}  // namespace

ir::Graph widen_half_types(const IndexedGraph& graph, const std::vector<ArrayType>& types,
                           bool training, const std::function<bool(DType)>& lacks) {
  Widener widener(graph, types, training, lacks);
  if (!widener.is_for_this_pass()) return graph.graph();
  return rewrite(graph.graph(), [&](const ir::Node& original, const Ref<ir::Node>& node) {
    return widener.replace(original, node);
  });
}

std::span<const char* const> widened_layers() { return kLayers; }
std::span<const char* const> widened_between() { return kBetween; }

}  // namespace mxnet
