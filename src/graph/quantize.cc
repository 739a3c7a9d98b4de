// SPDX-License-Identifier: Apache-2.0
// One walk over the network: each value exists as real numbers, as bytes with their range, or both,
// whatever is asked for.
#include "graph/quantize.h"

#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/config.h"
#include "base/log.h"
#include "graph/indexed_graph.h"
#include "graph/passes.h"
#include "graph/quantize_forms.h"
#include "graph/rewrite.h"
#include "graph/symbol.h"
#include "graph/symbol_attributes.h"
#include "graph/symbol_node.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

Ref<ir::Node> new_node(const char* op, std::string name, Attrs attrs,
                       std::vector<ir::Entry> inputs) {
  auto node = make_ref<ir::Node>();
  node->op = &Registry::get().at(op);
  node->name = std::move(name);
  node->attrs = std::move(attrs);
  node->inputs = std::move(inputs);
  return node;
}

// Whether it, or a layer that was fused into it, has one of these names: users know the layers.
bool is_named(const ir::Node& node, const std::set<std::string, std::less<>>& names) {
  if (names.count(node.name) > 0) return true;
  for (const std::shared_ptr<const ir::Graph>& part : node.subgraphs())
    for (const ir::Node* inner : ir::topological_order(part->outputs))
      if (!inner->is_variable() && is_named(*inner, names)) return true;
  return false;
}

class Quantizer {
 public:
  Quantizer(const ir::Graph& graph, const QuantizeOptions& options)
      : options_(options),
        dtype_(options.dtype),
        graph_(graph),
        forms_(static_cast<std::size_t>(graph_.num_nodes())),
        why_not_(forms_.size()),
        values_(static_cast<std::size_t>(graph_.num_entries())) {
    choose();
    if (options_.smart) drop_outer();
    for (const std::optional<QuantizedForm>& each : forms_)
      if (each && each->signed_data) dtype_ = "int8";
    if (config().quantization.verbose) report();
  }

  QuantizedGraph run() {
    for (int n = 0; n < graph_.num_nodes(); ++n) {
      if (form(n)) {
        quantize(n);
      } else {
        keep(n);
      }
    }
    QuantizedGraph result;
    for (const int entry : graph_.outputs()) result.graph.outputs.push_back(real(entry));
    for (const ir::Node* node : ir::topological_order(result.graph.outputs)) {
      const auto at = calibrated_.find(node);
      if (at != calibrated_.end()) result.to_calibrate.push_back(at->second);
    }
    return result;
  }

 private:
  // What stands for one value of the original network; made when first asked for.
  struct Twin {
    ir::Entry real;
    ir::Entry bytes, min, max;
    bool may_be_unsigned = false;
  };

  std::optional<QuantizedForm>& form(int n) { return forms_[static_cast<std::size_t>(n)]; }
  Twin& value(int entry) { return values_[static_cast<std::size_t>(entry)]; }
  ir::Entry original(int entry) const {
    const int n = graph_.node_of(entry);
    return {Ref<ir::Node>(const_cast<ir::Node*>(&graph_.node(n))), entry - graph_.first_entry(n),
            0};
  }

  void choose() {
    std::vector<bool> read(values_.size());
    for (const int entry : graph_.outputs()) read[static_cast<std::size_t>(entry)] = true;
    for (int n = 0; n < graph_.num_nodes(); ++n)
      for (const int entry : graph_.inputs(n)) read[static_cast<std::size_t>(entry)] = true;
    for (int n = 0; n < graph_.num_nodes(); ++n) {
      const ir::Node& node = graph_.node(n);
      if (node.is_variable()) continue;
      const char*& why_not = why_not_[static_cast<std::size_t>(n)];
      if (is_named(node, options_.excluded_nodes) ||
          options_.excluded_operators.count(node.op->name()) > 0) {
        why_not = "it is excluded";
        continue;
      }
      form(n) = quantized_form(node, options_.channel_wise);
      why_not = form(n) ? "more than its first result is read"
                        : "there is no kernel of bytes for it with these parameters";
      // Bytes stand for the first result alone.
      for (int o = 1; o < graph_.num_outputs(n) && form(n) && !form(n)->float_result; ++o) {
        const int entry = graph_.first_entry(n) + o;
        if (read[static_cast<std::size_t>(entry)]) form(n).reset();
      }
    }
  }

  // Those that only follow stay where a way through such nodes leads from one that does not to
  // another.
  void drop_outer() {
    std::vector<bool> behind(forms_.size()), before(forms_.size());
    const auto leads = [&](int n, const std::vector<bool>& seen) {
      return form(n) && (!form(n)->follows || seen[static_cast<std::size_t>(n)]);
    };
    for (int n = 0; n < graph_.num_nodes(); ++n) {
      if (!form(n)) continue;
      for (const int entry : graph_.inputs(n)) {
        const int source = graph_.node_of(entry);
        if (leads(source, behind) && !form(source)->float_result)
          behind[static_cast<std::size_t>(n)] = true;
      }
    }
    for (int n = graph_.num_nodes(); n-- > 0;) {
      if (!leads(n, before)) continue;
      for (std::size_t i = 0; i < graph_.inputs(n).size(); ++i)
        if (form(n)->in_bytes[i])
          before[static_cast<std::size_t>(graph_.node_of(graph_.inputs(n)[i]))] = true;
    }
    for (std::size_t n = 0; n < forms_.size(); ++n) {
      if (!forms_[n] || !forms_[n]->follows || (behind[n] && before[n])) continue;
      forms_[n].reset();
      why_not_[n] = "it only passes on what no layer around it has in bytes";
    }
  }

  void report() {
    for (int n = 0; n < graph_.num_nodes(); ++n) {
      const ir::Node& node = graph_.node(n);
      if (node.is_variable()) continue;
      log(LogLevel::kInfo,
          form(n) ? fmt::format("quantization: {} ({}) becomes {}", node.name, node.op->name(),
                                form(n)->op)
                  : fmt::format("quantization: {} ({}) stays real: {}", node.name, node.op->name(),
                                why_not_[static_cast<std::size_t>(n)]));
    }
  }

  const ir::Entry& real(int entry) {
    Twin& v = value(entry);
    if (!v.real) {
      const ir::Node& node = graph_.node(graph_.node_of(entry));
      Ref<ir::Node> back =
          new_node("_contrib_dequantize", node.name + "_dequantize", {}, {v.bytes, v.min, v.max});
      parse_node(back.get());
      v.real = {std::move(back), 0, 0};
    }
    return v.real;
  }

  static ir::Entry variable(const std::string& name) {
    Ref<ir::Node> node(new VariableNode);
    node->name = name;
    return {std::move(node), 0, 0};
  }

  // `data` tells what varies from run to run from weights, which always are int8.
  const Twin& bytes(int entry, const char* quantizer, bool data) {
    Twin& v = value(entry);
    if (v.bytes) return v;
    const std::string given = entry_name(original(entry));
    const std::string name = given + "_quantize";
    if (graph_.node(graph_.node_of(entry)).is_variable() && options_.offline.count(given) > 0) {
      v.bytes = variable(name);
      v.min = variable(name + "_min");
      v.max = variable(name + "_max");
      return v;
    }
    Attrs attrs;
    v.may_be_unsigned = true;
    if (std::string_view(quantizer) == "_contrib_quantize_v2") {
      const std::string& type = attrs.emplace_back("out_type", data ? dtype_ : "int8").second;
      v.may_be_unsigned = type != "int8";
    }
    Ref<ir::Node> node = new_node(quantizer, name, std::move(attrs), {real(entry)});
    parse_node(node.get());
    calibrated_[node.get()] = given;
    v.bytes = {node, 0, 0};
    v.min = {node, 1, 0};
    v.max = {node, 2, 0};
    return v;
  }

  void keep(int n) {
    const ir::Node& node = graph_.node(n);
    Ref<ir::Node> kept(const_cast<ir::Node*>(&node));
    bool differs = !node.control_deps().empty();
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      differs |= real(graph_.inputs(n)[i]).node != node.inputs[i].node;
    if (differs) {
      kept = copy_node(node);
      for (std::size_t i = 0; i < kept->inputs.size(); ++i) {
        const int32_t version = kept->inputs[i].version;
        kept->inputs[i] = real(graph_.inputs(n)[i]);
        kept->inputs[i].version = version;
      }
      renew_control_deps(kept.get(), [&](const Ref<ir::Node>& dep) {
        return real(graph_.first_entry(graph_.index_of(*dep))).node;
      });
    }
    for (int o = 0; o < graph_.num_outputs(n); ++o)
      value(graph_.first_entry(n) + o).real = {kept, o, 0};
  }

  void quantize(int n) {
    const ir::Node& node = graph_.node(n);
    const QuantizedForm& how = *form(n);
    std::vector<ir::Entry> inputs, ends;
    bool may_be_unsigned = false;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const int entry = graph_.inputs(n)[i];
      if (!how.in_bytes[i]) {
        inputs.push_back(real(entry));
        inputs.back().version = node.inputs[i].version;
        if (how.ones == static_cast<int>(i)) {
          Ref<ir::Node> ones =
              new_node("ones_like", node.name + "_ones", {}, {std::move(inputs.back())});
          parse_node(ones.get());
          inputs.back() = {std::move(ones), 0, 0};
        }
        continue;
      }
      const bool data = i == 0 || how.follows || !graph_.node(graph_.node_of(entry)).is_variable();
      const Twin& v = bytes(entry, how.quantizer, data);
      inputs.push_back(v.bytes);
      ends.push_back(v.min);
      ends.push_back(v.max);
      may_be_unsigned = may_be_unsigned || v.may_be_unsigned;
    }
    if (how.of_unsigned != nullptr && may_be_unsigned) {
      Attrs attrs = node.attrs;
      std::erase_if(attrs, [](const auto& attr) { return attr.first == "act_type"; });
      Ref<ir::Node> made =
          new_node(how.of_unsigned, "quantized_" + node.name, std::move(attrs), std::move(inputs));
      parse_node(made.get());
      Twin& v = value(graph_.first_entry(n));
      v.bytes = {std::move(made), 0, 0};
      v.min = ends[0];
      v.max = ends[1];
      v.may_be_unsigned = true;
      return;
    }
    inputs.insert(inputs.end(), ends.begin(), ends.end());
    Ref<ir::Node> made = new_node(how.op, "quantized_" + node.name, node.attrs, std::move(inputs));
    for (const auto& [key, text] : how.attrs) set_attr(made.get(), key, text);
    if (!node.subgraphs().empty()) made->extras = node.extras;
    parse_node(made.get());
    if (how.float_result) {
      for (int o = 0; o < graph_.num_outputs(n); ++o)
        value(graph_.first_entry(n) + o).real = {made, o, 0};
      return;
    }
    const std::string result = entry_name(original(graph_.first_entry(n)));
    if (how.wide_result) {
      made = new_node("_contrib_requantize", "requantize_" + node.name, {{"out_type", dtype_}},
                      {{made, 0, 0}, {made, 1, 0}, {made, 2, 0}});
      parse_node(made.get());
    }
    if (how.wide_result || how.needs_range) calibrated_[made.get()] = result;
    Twin& v = value(graph_.first_entry(n));
    v.bytes = {made, 0, 0};
    v.min = {made, 1, 0};
    v.max = {made, 2, 0};
    // A fused layer has a relu of its own, or none; what follows has the type of what it takes.
    v.may_be_unsigned = how.wide_result ? dtype_ != "int8" : !how.follows || may_be_unsigned;
  }

  const QuantizeOptions& options_;
  std::string dtype_;  // of data: what the options say, unless a node takes but int8
  const IndexedGraph graph_;
  std::vector<std::optional<QuantizedForm>> forms_;    // of the nodes that are to be quantized
  std::vector<const char*> why_not_;                   // of operators that stay real
  std::vector<Twin> values_;                           // by entry
  std::map<const ir::Node*, std::string> calibrated_;  // the value whose range the node takes
};

}  // namespace

QuantizedGraph quantize_graph(const ir::Graph& graph, const QuantizeOptions& options) {
  QuantizedGraph quantized;
  run_pass("quantize", graph, configured_passes(), [&](const ir::Graph& whole) {
    quantized = Quantizer(whole, options).run();
    return quantized.graph;
  });
  return quantized;
}

}  // namespace mxnet
