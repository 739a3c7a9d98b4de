// SPDX-License-Identifier: Apache-2.0
// Chains behind layers become nodes that carry them.
#include "graph/quantize_fuse.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <unordered_map>

#include "base/config.h"
#include "graph/fused_layer.h"
#include "graph/indexed_graph.h"
#include "graph/passes.h"
#include "graph/rewrite.h"
#include "graph/symbol.h"
#include "graph/symbol_attributes.h"
#include "graph/symbol_node.h"
#include "op/fused/post_op.h"
#include "op/op_def.h"
#include "op/params/batch_norm_params.h"

namespace mxnet {
namespace {

// Who reads the values of a graph.
class Readers {
 public:
  explicit Readers(const IndexedGraph& graph)
      : graph_(graph),
        reader_(static_cast<std::size_t>(graph.num_nodes()), kNobody),
        first_only_(reader_.size(), true) {
    for (int n = 0; n < graph.num_nodes(); ++n)
      for (const int entry : graph.inputs(n)) add(entry, n);
    for (const int entry : graph.outputs()) add(entry, kMany);
  }
  // The one node that reads any output of node n, less than 0 where there is no such node.
  int only(int n) const { return reader_[static_cast<std::size_t>(n)]; }
  // The same, if it reads nothing but the first output, once.
  int only_of_first(int n) const { return first_only_[static_cast<std::size_t>(n)] ? only(n) : -1; }

 private:
  static constexpr int kNobody = -1, kMany = -2;
  void add(int entry, int reader) {
    const int n = graph_.node_of(entry);
    int& known = reader_[static_cast<std::size_t>(n)];
    if (entry != graph_.first_entry(n) || known != kNobody)
      first_only_[static_cast<std::size_t>(n)] = false;
    known = known == kNobody || known == reader ? reader : kMany;
  }
  const IndexedGraph& graph_;
  std::vector<int> reader_;
  std::vector<bool> first_only_;
};

struct Chain {
  const char* op;
  std::vector<int> nodes;  // the layer first
  std::string title;
  Attrs attrs;
};

bool is(const ir::Node& node, const char* op) {
  return !node.is_variable() && node.op->name() == op;
}

class Fuser {
 public:
  explicit Fuser(const ir::Graph& graph) : graph_(graph), readers_(graph_) {
    for (int n = 0; n < graph_.num_nodes(); ++n) {
      const ir::Node& node = graph_.node(n);
      if (!node.control_deps().empty()) continue;
      if (is(node, "Convolution")) {
        finish(convolution(n));
      } else if (is(node, "FullyConnected")) {
        finish(fully_connected(n));
      } else if (is(node, "_contrib_interleaved_matmul_selfatt_qk")) {
        finish(attention(kFusedScores, "sg_mkldnn_selfatt_qk", n));
      } else if (is(node, "_contrib_interleaved_matmul_selfatt_valatt")) {
        finish(attention(kFusedValues, "sg_mkldnn_selfatt_valatt", n));
      }
    }
  }

  ir::Graph run() {
    return rewrite(graph_.graph(), [&](const ir::Node& original, const Ref<ir::Node>& node) {
      const int n = graph_.index_of(original);
      now_[n] = node;
      const auto at = chains_.find(n);
      return at == chains_.end() ? Replacement() : Replacement({{fused(at->second), 0, 0}});
    });
  }

 private:
  // Convolutions work on channels first only.
  Chain convolution(int n) {
    Chain chain{kFusedConv, {n}, "sg_mkldnn_conv", {}};
    const std::string* layout = find_attr(graph_.node(n), "layout");
    if (layout != nullptr && *layout != "None" && layout->substr(0, 2) != "NC") return {};
    const auto extend = [&](int next, const char* title, const char* attr) {
      chain.nodes.push_back(next);
      chain.title += title;
      chain.attrs.emplace_back(attr, "true");
      return readers_.only_of_first(next);
    };
    int next = readers_.only_of_first(n);
    if (is_norm(next)) next = extend(next, "_bn", "with_bn");
    if (is_activation(next, true)) {
      extend(next, "_act", "with_act");
    } else if (next >= 0 && is(graph_.node(next), "elemwise_add") && summed_.insert(next).second) {
      next = extend(next, "_add", "with_sum");
      if (is_activation(next, true)) extend(next, "_act", "with_postsum_act");
    }
    return chain;
  }

  Chain fully_connected(int n) const {
    Chain chain{kFusedRows, {n}, "sg_mkldnn_fully_connected", {}};
    const int next = readers_.only_of_first(n);
    if (is_activation(next, false)) {
      chain.nodes.push_back(next);
      chain.title += "_eltwise";
      chain.attrs.emplace_back("with_eltwise", "True");
    }
    return chain;
  }

  Chain attention(const char* op, const char* title, int n) const {
    const std::string* heads = find_attr(graph_.node(n), "heads");
    return {op,
            {n},
            title,
            {{"heads", heads == nullptr ? "1" : *heads},
             {"quantized", "False"},
             {"enable_float_output", "False"}}};
  }

  bool is_norm(int n) const {
    if (n < 0 || !is(graph_.node(n), "BatchNorm")) return false;
    return static_cast<const BatchNormParams*>(graph_.node(n).params.get())->axis == 1;
  }
  // Of the kinds that 1.x has behind such layers.
  bool is_activation(int n, bool convolution) const {
    if (n < 0 || graph_.node(n).is_variable()) return false;
    const ir::Node& node = graph_.node(n);
    const auto op = activation_of(*node.op, node.params.get());
    if (!op) return false;
    if (node.op->name() == "LeakyReLU") return op->kind != PostOp::Kind::kElu;
    if (node.op->name() == "Activation") return !convolution || op->kind == PostOp::Kind::kRelu;
    return convolution && op->kind == PostOp::Kind::kClip && op->alpha == 0.0f;
  }

  void finish(Chain chain) {
    if (chain.nodes.empty()) return;
    int& count = counts_[chain.op == kFusedValues ? kFusedScores : chain.op];
    chain.title += fmt::format("_{}", count++);
    const int last = chain.nodes.back();
    chains_.emplace(last, std::move(chain));
  }

  // The node that carries a chain; all that it reads has been replaced already.
  Ref<ir::Node> fused(const Chain& chain) {
    std::map<const ir::Node*, ir::Entry> inside;  // by the node outside
    std::map<const ir::Node*, ir::Entry> outer;   // by the variable inside
    std::map<std::string, int> named;
    Ref<ir::Node> last;
    for (const int n : chain.nodes) {
      const Ref<ir::Node>& outside = now_.at(n);
      Ref<ir::Node> copy = copy_node(*outside);
      // The layer comes first in sums: inputs of the chain are in the order in which it reads them.
      if (is(*copy, "elemwise_add") && inside.count(copy->inputs[1].node.get()) > 0)
        std::swap(copy->inputs[0], copy->inputs[1]);
      for (ir::Entry& input : copy->inputs) {
        const auto at = inside.find(input.node.get());
        if (at != inside.end()) {
          input = at->second;
          continue;
        }
        const std::string name = entry_name(input);
        Ref<ir::Node> variable(new VariableNode);
        variable->name = fmt::format("{}{}", name, named[name]++);
        outer[variable.get()] = input;
        input = {std::move(variable), 0, 0};
      }
      inside[outside.get()] = {copy, 0, 0};
      last = std::move(copy);
    }
    ir::Graph inner;
    inner.outputs.push_back({std::move(last), 0, 0});
    auto node = make_ref<ir::Node>();
    node->op = &Registry::get().at(chain.op);
    node->name = chain.title;
    node->attrs = chain.attrs;
    for (const ir::Node* variable : list_inputs(inner).nodes)
      node->inputs.push_back(outer.at(variable));
    auto extras = std::make_shared<ir::NodeExtras>();
    extras->subgraphs.push_back(std::make_shared<const ir::Graph>(std::move(inner)));
    node->extras = std::move(extras);
    parse_node(node.get());
    return node;
  }

  const IndexedGraph graph_;
  const Readers readers_;
  std::map<int, Chain> chains_;  // by their last nodes
  std::set<int> summed_;         // sums that a chain has taken: those of two layers go to the first
  std::map<std::string_view, int> counts_;
  std::unordered_map<int, Ref<ir::Node>> now_;
};

// The copy of a fused node with other attributes.
Ref<ir::Node> changed(const ir::Node& node, const Attrs& attrs) {
  Ref<ir::Node> copy = copy_node(node);
  for (const auto& [key, value] : attrs) set_attr(copy.get(), key, value);
  parse_node(copy.get());
  return copy;
}

// Calibrated requantize nodes go into the quantized layers before them, and with them what makes
// real numbers of the bytes, where nobody else wants those.
class Closer {
 public:
  explicit Closer(const ir::Graph& graph) : graph_(graph), readers_(graph_) {}

  ir::Graph run() {
    return rewrite(graph_.graph(), [&](const ir::Node& original, const Ref<ir::Node>& node) {
      if (is(original, "_contrib_requantize")) return requantize(original, *node);
      if (is(original, "_contrib_dequantize")) return dequantize(original, *node);
      return Replacement();
    });
  }

 private:
  const ir::Node* layer_behind(const ir::Node& original) const {
    const ir::Node& source = *original.inputs[0].node;
    const std::string* quantized = find_attr(source, "quantized");
    const bool fits = is_fused_layer(source) && quantized != nullptr && *quantized != "False" &&
                      find_attr(source, "min_calib_range") == nullptr &&
                      readers_.only(graph_.index_of(source)) == graph_.index_of(original);
    return fits ? &source : nullptr;
  }

  // What the configuration switches off for operators of this kind.
  static bool may_close(const ir::Node& layer) {
    const auto& rows = config().onednn;
    if (is(layer, kFusedRows) && rows.disable_qfc_fuse_all) return false;
    if (is_fused_attention(layer) && rows.disable_qtransformer_fuse_all) return false;
    return rows.fuse_requantize;
  }
  static bool may_be_real(const ir::Node& layer) {
    const auto& rows = config().onednn;
    if (is(layer, kFusedRows) && rows.disable_qfc_float_output) return false;
    if (is_fused_attention(layer) && rows.disable_qtransformer_float_output) return false;
    return rows.fuse_dequantize && !is(layer, kFusedConv);
  }

  Replacement requantize(const ir::Node& original, const ir::Node& node) const {
    const ir::Node* const layer = layer_behind(original);
    if (layer != nullptr && !may_close(*layer)) return std::nullopt;
    const std::string* const min = find_attr(original, "min_calib_range");
    const std::string* const max = find_attr(original, "max_calib_range");
    if (layer == nullptr || min == nullptr || max == nullptr) return std::nullopt;
    const Ref<ir::Node> closed =
        changed(*node.inputs[0].node, {{"min_calib_range", *min}, {"max_calib_range", *max}});
    return std::vector<ir::Entry>{{closed, 0, 0}, {closed, 1, 0}, {closed, 2, 0}};
  }

  Replacement dequantize(const ir::Node& original, const ir::Node& node) const {
    const ir::Node& source = *original.inputs[0].node;
    if (!is(source, "_contrib_requantize") ||
        readers_.only(graph_.index_of(source)) != graph_.index_of(original))
      return std::nullopt;
    const ir::Node* const layer = layer_behind(source);
    if (layer == nullptr || !may_close(*layer) || !may_be_real(*layer) ||
        find_attr(source, "min_calib_range") == nullptr)
      return std::nullopt;
    // `node` reads the closed layer by now: its range has no use any more.
    Ref<ir::Node> real = copy_node(*node.inputs[0].node);
    std::erase_if(real->attrs, [](const auto& attr) {
      return attr.first == "min_calib_range" || attr.first == "max_calib_range";
    });
    set_attr(real.get(), "enable_float_output", "True");
    parse_node(real.get());
    return std::vector<ir::Entry>{{std::move(real), 0, 0}};
  }

  const IndexedGraph graph_;
  const Readers readers_;
};

// Without nodes that give an operator's value as it is where nobody trains: between two layers of
// bytes they would ask for real numbers. One of an input of the graph stays, as in 1.x.
ir::Graph without_identities(const ir::Graph& graph) {
  std::set<const ir::Node*> masks;  // of those that somebody reads
  const auto note = [&](const ir::Entry& entry) {
    if (entry.index > 0) masks.insert(entry.node.get());
  };
  for (const ir::Entry& entry : graph.outputs) note(entry);
  for (const ir::Node* node : ir::topological_order(graph.outputs))
    for (const ir::Entry& entry : node->inputs) note(entry);
  return rewrite(graph, [&](const ir::Node& original, const Ref<ir::Node>& node) -> Replacement {
    if (original.is_variable() || !original.control_deps().empty()) return std::nullopt;
    const bool same =
        is(original, "_copy") || (is(original, "Dropout") && masks.count(&original) == 0 &&
                                  !original.op->uses_random(original.params.get(), false));
    if (!same || node->inputs[0].node->is_variable()) return std::nullopt;
    return std::vector<ir::Entry>{node->inputs[0]};
  });
}

}  // namespace

ir::Graph fuse_for_quantization(const ir::Graph& graph) {
  return run_pass("fuse_for_quantization", graph, configured_passes(), [](const ir::Graph& whole) {
    return Closer(Fuser(without_identities(whole)).run()).run();
  });
}

}  // namespace mxnet
