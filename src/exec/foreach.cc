// SPDX-License-Identifier: Apache-2.0
// _foreach: a body over the slices of arrays, with states that go from one call to the next. Its
// gradient is that of the calls it makes: slicing, bodies, stacking.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/numpy_shape.h"
#include "exec/array_op.h"
#include "exec/graph_body.h"
#include "graph/subgraph_op.h"
#include "op/op_builder.h"

namespace mxnet {
namespace {

// The node's inputs are data, states, then what all calls share; the locations say which input of
// the body each of these is.
struct ForeachParams {
  int32_t num_args = 0, num_outputs = 0, num_out_data = 0;
  std::vector<int64_t> state_locs, data_locs, remain_locs;
  std::shared_ptr<const GraphBody> body;

  std::size_t num_data() const { return data_locs.size(); }
  std::size_t num_states() const { return state_locs.size(); }
  // Position among the node's inputs -> among the body's.
  std::size_t location(std::size_t i) const {
    if (i < data_locs.size()) return static_cast<std::size_t>(data_locs[i]);
    i -= data_locs.size();
    return static_cast<std::size_t>(i < state_locs.size() ? state_locs[i]
                                                          : remain_locs[i - state_locs.size()]);
  }
};

// Every input of the body is one of the node's, and no two are the same.
void check_each_once(const ForeachParams& params, int64_t inputs) {
  std::vector<bool> taken(static_cast<std::size_t>(inputs));
  for (std::size_t i = 0; i < taken.size(); ++i) taken[params.location(i)] = true;
  if (int64_t{params.num_args} - 1 == inputs && std::ranges::find(taken, false) == taken.end())
    return;
  throw Error(
      ErrorCode::kValue, "_foreach",
      fmt::format("given num_args={}, in_data_locs=[{}], in_state_locs=[{}] and "
                  "remain_locs=[{}] for a graph of {} inputs, expected one more, and each "
                  "input once",
                  params.num_args, fmt::join(params.data_locs, ", "),
                  fmt::join(params.state_locs, ", "), fmt::join(params.remain_locs, ", "), inputs));
}

ParamsPtr bind(const void* given, SubgraphList graphs) {
  if (graphs.size() != 1) {
    throw Error(ErrorCode::kValue, "_foreach",
                fmt::format("given {} graphs, expected one", graphs.size()));
  }
  auto params = std::make_shared<ForeachParams>(*static_cast<const ForeachParams*>(given));
  params->body = std::make_shared<const GraphBody>(*graphs[0]);
  const int64_t limit = params->body->num_inputs();
  const auto data = static_cast<int64_t>(params->num_data()),
             states = static_cast<int64_t>(params->num_states());
  check_locations("_foreach", "in_data_locs", params->data_locs, data, limit);
  check_locations("_foreach", "in_state_locs", params->state_locs, states, limit);
  check_locations("_foreach", "remain_locs", params->remain_locs, limit - data - states, limit);
  check_each_once(*params, limit);
  if (data == 0 || params->num_outputs != params->body->num_outputs() ||
      params->num_outputs != params->num_out_data + states || params->num_out_data < 0) {
    throw Error(ErrorCode::kValue, "_foreach",
                fmt::format("given {} data, {} states, num_out_data={} and num_outputs={} for a "
                            "graph of {} outputs, expected at least one data and an output for "
                            "each state",
                            data, states, params->num_out_data, params->num_outputs,
                            params->body->num_outputs()));
  }
  return params;
}

const GraphBody& body_of(const ForeachParams& params) {
  if (params.body) return *params.body;
  throw Error(ErrorCode::kValue, "_foreach",
              "given no graph, expected a symbol as the first input");
}

// One slice of an array; without NumPy shapes there are no scalars.
Shape slice_shape(const Shape& shape) {
  if (shape.ndim() == 1 && !is_numpy_shape()) return Shape{1};
  return Shape(shape.dims().subspan(1));
}

Shape stacked_shape(int64_t length, const Shape& shape) {
  std::vector<int64_t> dims{length};
  dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
  return Shape(dims);
}

void infer(const ForeachParams& params, Infer& infer) {
  const GraphBody& body = body_of(params);
  std::vector<ArrayType> in(static_cast<std::size_t>(body.num_inputs()));
  std::vector<ArrayType> out(static_cast<std::size_t>(body.num_outputs()));
  int64_t length = Shape::kUnknownDim;
  for (std::size_t i = 0; i < in.size(); ++i) {
    ArrayType type = type_of(infer.in(static_cast<int>(i)));
    if (i < params.num_data() && type.shape.rank_known()) {
      if (type.shape.ndim() == 0) infer.fail("given data without dimensions, expected an axis");
      if (length >= 0 && type.shape[0] >= 0 && type.shape[0] != length) {
        infer.fail(fmt::format("given data of lengths {} and {}, expected one length", length,
                               type.shape[0]));
      }
      length = std::max(length, type.shape[0]);
      type.shape = slice_shape(type.shape);
    }
    in[params.location(i)] = type;
  }
  for (std::size_t s = 0; s < params.num_states(); ++s)
    out[static_cast<std::size_t>(params.num_out_data) + s] =
        in[static_cast<std::size_t>(params.state_locs[s])];
  body.infer(in, out);
  for (std::size_t i = params.num_data(); i < in.size(); ++i)
    learn(infer.in(static_cast<int>(i)), in[params.location(i)]);
  for (std::size_t i = 0; i < params.num_data(); ++i)
    infer.in(static_cast<int>(i)).set_dtype(in[params.location(i)].dtype);
  for (std::size_t o = 0; o < out.size(); ++o) {
    const bool stacked = o < static_cast<std::size_t>(params.num_out_data);
    InferArg arg = infer.out(static_cast<int>(o));
    arg.set_dtype(out[o].dtype);
    if (!stacked) arg.set_shape(out[o].shape);
    if (stacked && out[o].shape.rank_known()) arg.set_shape(stacked_shape(length, out[o].shape));
  }
}

// All slices of an array as arrays, by one operator, so that its gradient is one as well.
std::vector<NDArray> slices(NDArray* array) {
  const bool keeps_axis = slice_shape(array->shape()).ndim() == array->shape().ndim();
  return call_op("SliceChannel", std::array<NDArray*, 1>{array},
                 {{"num_outputs", std::to_string(array->shape()[0])},
                  {"axis", "0"},
                  {"squeeze_axis", keeps_axis ? "0" : "1"}});
}

void run(const ParsedAttrsRef& parsed, std::span<NDArray* const> inputs, OutputRefs outputs,
         Device device, NodeState* /*state*/) {
  const auto& params = *static_cast<const ForeachParams*>(parsed->params().get());
  const GraphBody& body = body_of(params);
  std::vector<std::vector<NDArray>> data;
  for (NDArray* array : inputs.first(params.num_data())) {
    if (array->shape().ndim() == 0 || array->shape()[0] == 0 ||
        array->shape()[0] != inputs[0]->shape()[0]) {
      throw Error(ErrorCode::kValue, "_foreach",
                  fmt::format("given data of shape {}, expected a first axis of {} elements, at "
                              "least one",
                              to_string(array->shape()),
                              inputs[0]->shape().ndim() > 0 ? inputs[0]->shape()[0] : 1));
    }
    data.push_back(slices(array));
  }
  std::vector<NDArray*> in(inputs.size());
  for (std::size_t i = params.num_data(); i < inputs.size(); ++i)
    in[params.location(i)] = inputs[i];
  const auto num_stacked = static_cast<std::size_t>(params.num_out_data);
  std::vector<std::vector<NDArray>> steps(num_stacked);
  std::vector<NDArray> states;
  const std::size_t length = data[0].size();
  for (std::size_t step = 0; step < length; ++step) {
    for (std::size_t d = 0; d < data.size(); ++d) in[params.location(d)] = &data[d][step];
    std::vector<NDArray> results = body.run(in, device);
    for (std::size_t o = 0; o < num_stacked; ++o) steps[o].push_back(std::move(results[o]));
    states.assign(std::make_move_iterator(results.begin() + params.num_out_data),
                  std::make_move_iterator(results.end()));
    for (std::size_t s = 0; s < states.size(); ++s)
      in[static_cast<std::size_t>(params.state_locs[s])] = &states[s];
  }
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    NDArray result;
    if (o < num_stacked) {
      std::vector<NDArray*> parts;
      for (NDArray& part : steps[o]) parts.push_back(&part);
      result = call_op("stack", parts, {{"axis", "0"}, {"num_args", std::to_string(length)}})[0];
    } else {
      result = std::move(states[o - num_stacked]);
    }
    deliver_result(parsed->op(), o, std::move(result), outputs[o]);
  }
}

MX_OP(_foreach, ForeachParams)
.doc(
    "Runs a graph on each slice of some arrays; what it gives for its states goes into the next "
    "run.")
    .input("fn", "The graph.")
    .input_type("Symbol")
    .inputs("data", "Arrays to slice, first states, and what all runs share.",
            &ForeachParams::num_args, "num_args")
    .param("num_args", &ForeachParams::num_args, "Number of inputs, the graph among them.")
    .param("num_outputs", &ForeachParams::num_outputs, "Outputs of the graph.")
    .param("num_out_data", &ForeachParams::num_out_data,
           "Outputs that are stacked; the others are states.")
    .param("in_state_locs", &ForeachParams::state_locs, "Where the graph takes the states.")
    .param("in_data_locs", &ForeachParams::data_locs, "Where the graph takes the slices.")
    .param("remain_locs", &ForeachParams::remain_locs, "Where the graph takes the rest.")
    .outputs([](const ForeachParams& params) { return static_cast<int>(params.num_outputs); })
    .infer(infer)
    .shape_from_values();

[[maybe_unused]] const bool added =
    add_subgraph_op("_foreach", {bind}) && add_array_op("_foreach", {run});

}  // namespace
}  // namespace mxnet
