// SPDX-License-Identifier: Apache-2.0
// Parameters and inputs of a model as the arrays of an executor.
#include "exec/predictor.h"

#include <fmt/format.h>

#include "base/error.h"

namespace mxnet {
namespace {

void copy_if_alike(const NDArray& from, const NDArray& to) {
  if (from.shape() != to.shape() || from.dtype() != to.dtype()) return;
  from.copy_to(to);
  to.wait_to_read();  // or the caller's thread would forward without it
}

}  // namespace

Predictor::Predictor(std::shared_ptr<const PredictModel> model, std::map<std::string, Shape> shapes,
                     std::map<std::string, DType> dtypes)
    : model_(std::move(model)), dtypes_(std::move(dtypes)) {
  const IndexedGraph graph(model_->graph);
  SimpleBind options;
  options.device = model_->device;
  options.default_request = Request::kNull;
  options.dtypes = dtypes_;
  std::map<std::string, NDArray> kept = model_->parameters;
  for (int n : graph.variables()) {
    const std::string& name = graph.node(n).name;
    const auto given = shapes.find(name);
    const auto parameter = model_->parameters.find(name);
    if (given != shapes.end()) {
      options.shapes[name] = given->second;
      kept.erase(name);
    } else if (parameter != model_->parameters.end()) {
      options.shapes[name] = parameter->second.shape();
      options.dtypes[name] = parameter->second.dtype();
    }
  }
  // Parameters are the model's own arrays, found by name as if another executor shared them.
  options.given = &kept;
  executor_ = simple_bind(model_->graph, options);
  executor_->run_on_caller();
  const ExecutorArrays& arrays = executor_->arrays();
  for (std::size_t i = 0; i < arrays.args.size(); ++i) {
    const std::string& name = graph.node(graph.arguments()[i]).name;
    if (kept.contains(name)) continue;
    inputs_[name] = arrays.args[i];
    if (const auto from = model_->parameters.find(name); from != model_->parameters.end())
      copy_if_alike(from->second, arrays.args[i]);
  }
  output_dims_.resize(executor_->outputs().size());
}

void Predictor::take_inputs(const Predictor& from) {
  for (const auto& [name, array] : from.inputs_)
    if (const auto input = inputs_.find(name); input != inputs_.end())
      copy_if_alike(array, input->second);
}

void Predictor::set_input(const std::string& name, const void* data, int64_t count) {
  const auto input = inputs_.find(name);
  if (input == inputs_.end()) {
    std::string names;
    for (const auto& [known, array] : inputs_) names += (names.empty() ? "" : ", ") + known;
    throw Error(ErrorCode::kValue, "MXPredSetInput",
                fmt::format("given '{}', expected one of the inputs {}", name, names));
  }
  if (count != input->second.size()) {
    throw Error(ErrorCode::kValue, "MXPredSetInput",
                fmt::format("given {} numbers for '{}', expected {} for {}", count, name,
                            input->second.size(), to_string(input->second.shape())));
  }
  input->second.sync_copy_from(data, count);
}

const NDArray& Predictor::output(std::size_t index) const {
  const std::vector<NDArray>& outputs = executor_->outputs();
  if (index >= outputs.size()) {
    throw Error(ErrorCode::kIndex, "MXPredGetOutput",
                fmt::format("given output {}, expected less than {}", index, outputs.size()));
  }
  require_data(outputs[index], "output before forward");
  return outputs[index];
}

std::span<const uint32_t> Predictor::output_dims(std::size_t index) {
  const Shape& shape = output(index).shape();
  std::vector<uint32_t>& dims = output_dims_[index];
  dims.clear();
  for (int64_t dim : shape.dims()) dims.push_back(static_cast<uint32_t>(dim));
  return dims;
}

ir::Graph partial_graph(const ir::Graph& graph, const std::vector<std::string>& outputs) {
  ir::Graph part;
  const std::vector<ir::Node*> nodes = ir::topological_order(graph.outputs);
  for (const std::string& wanted : outputs) {
    const std::size_t before = part.outputs.size();
    for (ir::Node* node : nodes) {
      if (node->is_variable()) {
        if (node->name == wanted) part.outputs.push_back({Ref<ir::Node>(node), 0, 0});
        continue;
      }
      const int visible = node->op->num_visible_outputs(node->params.get());
      for (int o = 0; o < visible; ++o) {
        const std::string name = node->name + "_" + node->op->output_name(node->params.get(), o);
        if (wanted == name || (o == 0 && wanted == node->name))
          part.outputs.push_back({Ref<ir::Node>(node), o, 0});
      }
    }
    if (part.outputs.size() == before) {
      throw Error(ErrorCode::kValue, "MXPredCreatePartialOut",
                  fmt::format("given output '{}', expected a node of the symbol or one of its "
                              "outputs",
                              wanted));
    }
  }
  return part;
}

}  // namespace mxnet
