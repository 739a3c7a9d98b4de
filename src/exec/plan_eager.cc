// SPDX-License-Identifier: Apache-2.0
// Node after node; values are let go after their last use.
#include "exec/plan_eager.h"

#include <algorithm>
#include <climits>

#include "base/error.h"
#include "base/numpy_shape.h"
#include "exec/array_op.h"
#include "graph/infer.h"
#include "graph/subgraph_op.h"
#include "op/inline_vector.h"
#include "op/named_errors.h"

namespace mxnet {

namespace {

// The node is given a shape of which a dimension is 0.
bool makes_zero_size(const IndexedGraph& graph, int n) {
  const ir::Node& node = graph.node(n);
  std::vector<ArrayType> types(static_cast<std::size_t>(graph.num_outputs(n)));
  Infer infer(*node.op, node.params.get(), {}, types);
  node.op->infer(node.params.get(), infer);
  return std::any_of(types.begin(), types.end(), [](const ArrayType& type) {
    const std::span<const int64_t> dims = type.shape.dims();
    return std::find(dims.begin(), dims.end(), 0) != dims.end();
  });
}

// Parameters that hold a state are not shared with other graphs of the node.
ParamsPtr own_params(const ir::Node& node, const ArrayOp* body) {
  if (body == nullptr || !body->has_state) return node.params;
  InlineVector<std::pair<std::string_view, std::string_view>, 8> texts;
  for (const auto& [key, text] : node.attrs) texts.emplace_back(key, text);
  const ParamsPtr params = node.op->parse(texts.span());
  return node.subgraphs().empty() ? params
                                  : params_with_subgraphs(*node.op, params, node.subgraphs());
}

}  // namespace

EagerGraph::EagerGraph(IndexedGraph graph)
    : graph_(std::move(graph)), last_use_(static_cast<std::size_t>(graph_.num_entries()), -1) {
  for (int n = 0; n < graph_.num_nodes(); ++n) {
    const ir::Node& node = graph_.node(n);
    ParsedAttrsRef parsed;
    const ArrayOp* body = nullptr;
    if (!node.is_variable()) {
      body = find_array_op(*node.op);
      parsed = ParsedAttrsRef(new ParsedAttrs(*node.op, node.attrs, own_params(node, body)));
      dynamic_ = dynamic_ || node.op->shape_from_values(node.params.get(),
                                                        static_cast<int>(node.inputs.size()));
    }
    if (!node.is_variable() && node.inputs.empty() && makes_zero_size(graph_, n))
      zero_sizes_.push_back(n);
    parsed_.push_back(std::move(parsed));
    bodies_.push_back(body);
    for (int entry : graph_.inputs(n)) last_use_[static_cast<std::size_t>(entry)] = n;
  }
  for (int entry : graph_.outputs()) last_use_[static_cast<std::size_t>(entry)] = INT_MAX;
}

void EagerGraph::make_open_arrays(std::span<NDArray* const> variables, Device device,
                                  std::span<NDArray> made) const {
  std::vector<ArrayType> types(made.size());
  for (std::size_t v = 0; v < variables.size(); ++v)
    types[static_cast<std::size_t>(graph_.first_entry(graph_.variables()[v]))] = {
        variables[v]->shape(), variables[v]->dtype()};
  infer_graph(graph_, &types);
  for (int n : zero_sizes_) {
    for (int entry = graph_.first_entry(n); entry < graph_.first_entry(n + 1); ++entry) {
      const ArrayType& type = types[static_cast<std::size_t>(entry)];
      if (type.complete())
        made[static_cast<std::size_t>(entry)] = NDArray(type.shape, type.dtype, device);
    }
  }
}

std::vector<NDArray> EagerGraph::run(std::span<NDArray* const> variables, Device device,
                                     const Observer* observer, const DeviceGroups* groups,
                                     std::span<NodeState> states) const {
  MX_ASSERT(variables.size() == graph_.variables().size());
  MX_ASSERT(states.empty() || states.size() == parsed_.size());
  std::vector<NDArray> made(static_cast<std::size_t>(graph_.num_entries()));
  if (!zero_sizes_.empty() && !is_numpy_shape()) make_open_arrays(variables, device, made);
  std::vector<NDArray*> values;
  values.reserve(made.size());
  for (NDArray& array : made) values.push_back(&array);
  for (std::size_t v = 0; v < variables.size(); ++v)
    values[static_cast<std::size_t>(graph_.first_entry(graph_.variables()[v]))] = variables[v];
  for (int n = 0; n < graph_.num_nodes(); ++n) {
    const ir::Node& node = graph_.node(n);
    if (node.is_variable()) continue;
    InlineVector<NDArray*, 8> in, out;
    for (int entry : graph_.inputs(n)) in.push_back(values[static_cast<std::size_t>(entry)]);
    const Device here = groups == nullptr ? device : device_of(node, *groups, device);
    std::vector<NDArray> moved;
    if (groups != nullptr) {
      moved.reserve(in.size());  // addresses stay
      for (NDArray*& input : in.span())
        if (!input->is_sparse()) input = &moved.emplace_back(moved_to(*input, here));
    }
    for (int o = 0; o < graph_.num_outputs(n); ++o)
      out.push_back(
          values[static_cast<std::size_t>(graph_.first_entry(n)) + static_cast<std::size_t>(o)]);
    if (observer != nullptr && observer->input)
      for (std::size_t i = 0; i < in.size(); ++i)
        observer->input(node, static_cast<int>(i), *in[i]);
    try {
      const auto at = static_cast<std::size_t>(n);
      if (bodies_[at] != nullptr && !states.empty()) {
        bodies_[at]->run(parsed_[at], in.span(), out.span(), here, &states[at]);
      } else {
        imperative_invoke(parsed_[at], in.span(), out.span(), here);
      }
    } catch (...) {
      rethrow_told_by(*node.op, title_of(node));
    }
    if (observer != nullptr && observer->output) {
      for (int o = 0; o < graph_.num_outputs(n); ++o)  // those that only backward reads as well
        if (const NDArray& value = *out[static_cast<std::size_t>(o)]; !value.is_none())
          observer->output(node, o, value);
    }
    for (int entry : graph_.inputs(n))
      if (last_use_[static_cast<std::size_t>(entry)] == n)
        made[static_cast<std::size_t>(entry)] = NDArray();
  }
  std::vector<NDArray> outputs;
  outputs.reserve(graph_.outputs().size());
  for (int entry : graph_.outputs()) outputs.push_back(*values[static_cast<std::size_t>(entry)]);
  return outputs;
}

}  // namespace mxnet
