// SPDX-License-Identifier: Apache-2.0
// One walk in the order of the graph: the types of a node's inputs are known when it is its turn,
// as far as they follow from the casts that are there already.
#include "graph/reduce_precision.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/error.h"
#include "graph/passes.h"
#include "graph/rewrite.h"
#include "graph/symbol_attributes.h"
#include "graph/symbol_node.h"
#include "op/infer.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

class Reducer {
 public:
  Reducer(const ir::Graph& graph, const PrecisionOptions& options) : options_(options) {
    if (!options.cast_parameters) return;
    std::set<std::string> others;  // variables that somebody reads in another type
    const std::vector<ir::Node*> nodes = ir::topological_order(graph.outputs);
    for (const ir::Node* node : nodes) {
      for (std::size_t i = 0; i < node->inputs.size(); ++i) {
        const ir::Node& input = *node->inputs[i].node;
        if (input.is_variable() && (!runs_in_target(*node) || is_state(*node, i)))
          others.insert(input.name);
      }
    }
    for (const ir::Entry& output : graph.outputs) others.insert(output.node->name);
    for (const std::string& name : options.parameters)
      if (!others.contains(name)) casted_.insert(name);
  }

  Replacement replace(const ir::Node& original, const Ref<ir::Node>& node) {
    if (node->is_variable()) return variable(original);
    check_inputs(original);  // an operator's own rule takes them for given
    std::vector<ir::Entry> inputs = node->inputs;
    if (needs_float32(original)) {
      // Variables count as float32, but 1.9.1 makes sure of it before conditional operators.
      const bool all = !always_float32(original);
      for (std::size_t i = 0; i < inputs.size(); ++i)
        if (!is_state(original, i) && (all || !inputs[i].node->is_variable()))
          inputs[i] = cast(inputs[i], DType::kFloat32);
    } else if (options_.target_ops.contains(original.op->name())) {
      for (std::size_t i = 0; i < inputs.size(); ++i)
        if (!is_state(original, i)) inputs[i] = cast(inputs[i], options_.target);
    } else if (options_.widest_ops.contains(original.op->name())) {
      widen(&inputs);
    }
    Ref<ir::Node> made = node;
    if (inputs != node->inputs) {
      made = copy_node(*node);
      made->inputs = std::move(inputs);
    }
    infer(*made, needs_float32(original));
    if (made == node) return std::nullopt;
    return outputs_of(made);
  }

  ir::Entry result(const ir::Entry& entry) { return cast(entry, DType::kFloat32); }

 private:
  static std::vector<ir::Entry> outputs_of(const Ref<ir::Node>& node) {
    std::vector<ir::Entry> outputs;
    const int count = node->op->num_outputs(node->params.get());
    outputs.reserve(static_cast<std::size_t>(count));
    for (int o = 0; o < count; ++o) outputs.push_back({node, o, 0});
    return outputs;
  }

  // --- what a node asks for --------------------------------------------------------------------

  bool always_float32(const ir::Node& node) const {
    return options_.excluded.contains(node.name) || options_.fp32_ops.contains(node.op->name());
  }
  bool needs_float32(const ir::Node& node) const {
    if (always_float32(node)) return true;
    return std::any_of(options_.conditional_fp32_ops.begin(), options_.conditional_fp32_ops.end(),
                       [&](const PrecisionOptions::Condition& condition) {
                         if (condition.op != node.op->name()) return false;
                         const std::string* value = find_attr(node, condition.parameter);
                         return value != nullptr && condition.values.contains(*value);
                       });
  }
  bool runs_in_target(const ir::Node& node) const {
    return !needs_float32(node) && options_.target_ops.contains(node.op->name());
  }
  // A state keeps its own type, as whoever writes it expects.
  static bool is_state(const ir::Node& node, std::size_t i) {
    const std::vector<int> states = node.op->state_inputs(node.params.get());
    return std::find(states.begin(), states.end(), static_cast<int>(i)) != states.end();
  }

  // --- casts -----------------------------------------------------------------------------------

  Replacement variable(const ir::Node& original) {
    const bool casted = casted_.contains(original.name);
    if (casted) types_[{&original, 0}] = options_.target;
    if (!options_.parameters.contains(original.name)) return std::nullopt;
    const DType dtype = casted ? options_.target : DType::kFloat32;
    const Ref<ir::Node> made = copy_node(original);
    set_attr(made.get(), "__dtype__", std::to_string(static_cast<int>(dtype)));
    if (casted) types_[{made.get(), 0}] = options_.target;
    return std::vector<ir::Entry>{{made, 0, 0}};
  }

  // Unknown where it follows from variables.
  DType type(const ir::Entry& entry) const {
    const auto at = types_.find({entry.node.get(), entry.index});
    return at == types_.end() ? DType::kUnknown : at->second;
  }

  ir::Entry cast(const ir::Entry& entry, DType dtype) {
    const DType now = type(entry);
    if (now == dtype || (now != DType::kUnknown && !is_floating(now))) return entry;
    const auto [at, first] = casts_.try_emplace({entry.node.get(), entry.index, dtype});
    if (first) {
      auto node = make_ref<ir::Node>();
      static const OpDef& op = Registry::get().at("amp_cast");
      node->op = &op;
      node->attrs = {{"dtype", std::string(dtype_name(dtype))}};
      parse_node(node.get());
      node->name = fmt::format("{}_amp_cast_{}", entry_name(entry), dtype_name(dtype));
      node->inputs = {entry};
      types_[{node.get(), 0}] = dtype;
      at->second = {std::move(node), 0, 0};
    }
    return at->second;
  }

  // Where all types are known, those that are not the widest are cast; otherwise that is seen when
  // the network runs.
  void widen(std::vector<ir::Entry>* inputs) {
    if (inputs->empty()) return;
    const auto known = [&](const ir::Entry& input) { return type(input) != DType::kUnknown; };
    if (std::all_of(inputs->begin(), inputs->end(), known)) {
      const DType first = type(inputs->front());
      if (!std::all_of(inputs->begin(), inputs->end(),
                       [&](const ir::Entry& input) { return type(input) == first; }))
        for (ir::Entry& input : *inputs) input = cast(input, DType::kFloat32);
      return;
    }
    auto node = make_ref<ir::Node>();
    static const OpDef& op = Registry::get().at("amp_multicast");
    node->op = &op;
    node->attrs = {{"num_outputs", std::to_string(inputs->size())}};
    parse_node(node.get());
    node->name = entry_name(inputs->front()) + "_amp_multicast";
    node->inputs = *inputs;
    infer(*node, /*float32=*/false);
    for (std::size_t i = 0; i < inputs->size(); ++i)
      (*inputs)[i] = {node, static_cast<int32_t>(i), 0};
  }

  // What the operator's own rule says of its outputs' types. `float32`: that of variables.
  void infer(const ir::Node& node, bool float32) {
    std::vector<ArrayType> in(node.inputs.size());
    for (std::size_t i = 0; i < in.size(); ++i) {
      in[i].dtype = type(node.inputs[i]);
      if (float32 && node.inputs[i].node->is_variable()) in[i].dtype = DType::kFloat32;
    }
    std::vector<ArrayType> out(static_cast<std::size_t>(node.op->num_outputs(node.params.get())));
    Infer rule(*node.op, node.params.get(), in, out);
    try {
      node.op->infer(node.params.get(), rule);
    } catch (const Error&) {
      return;  // types that do not fit: whoever runs the network is told, with its shapes
    }
    for (std::size_t o = 0; o < out.size(); ++o)
      if (out[o].dtype != DType::kUnknown) types_[{&node, static_cast<int32_t>(o)}] = out[o].dtype;
  }

  const PrecisionOptions& options_;
  std::set<std::string> casted_;  // parameters that become variables of the target type
  std::map<std::pair<const ir::Node*, int32_t>, DType> types_;
  std::map<std::tuple<const ir::Node*, int32_t, DType>, ir::Entry> casts_;
};

}  // namespace

Symbol reduce_precision(const Symbol& symbol, const PrecisionOptions& options) {
  if (options.target != DType::kFloat16 && options.target != DType::kBFloat16) {
    throw Error(ErrorCode::kValue, "reduce_precision",
                fmt::format("given target type {}, expected float16 or bfloat16",
                            dtype_name(options.target)));
  }
  for (const std::string& op : options.target_ops) {
    if (!options.fp32_ops.contains(op)) continue;
    throw Error(ErrorCode::kValue, "reduce_precision",
                fmt::format("given {} as an operator in {} and in float32, expected one of the two",
                            op, dtype_name(options.target)));
  }
  const auto reduce = [&](const ir::Graph& whole) {
    Reducer reducer(whole, options);
    ir::Graph graph = rewrite(whole, [&](const ir::Node& original, const Ref<ir::Node>& node) {
      return reducer.replace(original, node);
    });
    for (ir::Entry& output : graph.outputs) output = reducer.result(output);
    return graph;
  };
  return Symbol(run_pass("reduce_precision", symbol.graph(), configured_passes(), reduce));
}

}  // namespace mxnet
