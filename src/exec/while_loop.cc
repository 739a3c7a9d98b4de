// SPDX-License-Identifier: Apache-2.0
// _while_loop: a graph that runs as long as another graph says so.
#include <fmt/format.h>

#include "base/error.h"
#include "exec/array_op.h"
#include "exec/decision.h"
#include "exec/invoke.h"
#include "op/op_builder.h"

namespace mxnet {
namespace {

struct WhileParams {
  int32_t num_args = 0, num_outputs = 0, num_out_data = 0, max_iterations = 0;
  Locations cond_locs, func_locs;  // input of the graph -> of the node
  Locations var_locs;              // loop variable -> input of the function's graph
  std::shared_ptr<const GraphBody> condition, function;

  // Which input of the node a loop variable starts as.
  std::size_t variable(std::size_t v) const {
    return static_cast<std::size_t>(func_locs[static_cast<std::size_t>(var_locs[v])]);
  }
};

ParamsPtr bind_while(const void* given, SubgraphList graphs) {
  auto params = std::make_shared<WhileParams>(*static_cast<const WhileParams*>(given));
  params->condition = body_at("_while_loop", graphs, 0, 2);
  params->function = body_at("_while_loop", graphs, 1, 2);
  const int64_t inputs = int64_t{params->num_args} - 2;
  const int64_t num_vars = int64_t{params->num_outputs} - params->num_out_data;
  check_locations("_while_loop", "cond_input_locs", params->cond_locs,
                  params->condition->num_inputs(), inputs);
  check_locations("_while_loop", "func_input_locs", params->func_locs,
                  params->function->num_inputs(), inputs);
  check_locations("_while_loop", "func_var_locs", params->var_locs, num_vars,
                  params->function->num_inputs());
  if (params->num_outputs != params->function->num_outputs() || params->num_out_data < 0 ||
      params->condition->num_outputs() != 1 || params->max_iterations <= 0) {
    throw Error(ErrorCode::kValue, "_while_loop",
                fmt::format("given max_iterations={}, num_outputs={} and num_out_data={} for "
                            "graphs of {} and {} outputs, expected a condition of one output and "
                            "at least one iteration",
                            params->max_iterations, params->num_outputs, params->num_out_data,
                            params->condition->num_outputs(), params->function->num_outputs()));
  }
  return params;
}

void infer_while(const WhileParams& params, Infer& infer) {
  if (!params.function) no_graphs("_while_loop");
  std::vector<ArrayType> out;
  infer_with(*params.function, params.func_locs, infer, &out);
  for (std::size_t o = 0; o < out.size(); ++o) {
    InferArg arg = infer.out(static_cast<int>(o));
    arg.set_dtype(out[o].dtype);
    const bool stacked = o < static_cast<std::size_t>(params.num_out_data);
    if (!stacked) arg.set_shape(out[o].shape);
    if (!stacked || !out[o].shape.rank_known()) continue;
    std::vector<int64_t> dims{params.max_iterations};
    dims.insert(dims.end(), out[o].shape.dims().begin(), out[o].shape.dims().end());
    arg.set_shape(Shape(dims));
  }
}

// The values of all iterations on top of each other, and zeros for those that did not happen.
// `type`: as far as it follows from the inputs' types; where it does not, an iteration tells.
NDArray padded(std::vector<NDArray>& steps, int64_t iterations, ArrayType type, Device device) {
  const auto done = static_cast<int64_t>(steps.size());
  NDArray stacked;
  if (done > 0) {
    std::vector<NDArray*> parts;
    parts.reserve(steps.size());
    for (NDArray& step : steps) parts.push_back(&step);
    stacked = call_op("stack", parts, {{"axis", "0"}, {"num_args", std::to_string(done)}})[0];
    type = {stacked.shape(), stacked.dtype()};
  }
  if (done == iterations) return stacked;
  if (!type.complete()) {
    throw Error(ErrorCode::kValue, "_while_loop",
                "given a condition that never holds, expected one iteration at least: what the "
                "function makes has a shape that only its values tell");
  }
  std::vector<int64_t> dims(type.shape.dims().begin(), type.shape.dims().end());
  dims[0] = iterations - done;
  NDArray zeros(Shape(dims), type.dtype, device);
  fill_array("zeros_like", zeros);
  if (done == 0) return zeros;
  return call_op("Concat", std::array<NDArray*, 2>{&stacked, &zeros},
                 {{"dim", "0"}, {"num_args", "2"}})[0];
}

void run_while(const ParsedAttrsRef& parsed, std::span<NDArray* const> inputs, OutputRefs outputs,
               Device device, NodeState* /*state*/) {
  const auto& params = *static_cast<const WhileParams*>(parsed->params().get());
  if (!params.function) no_graphs("_while_loop");
  std::vector<ArrayType> in_types, out_types(outputs.size());
  for (const NDArray* input : inputs) in_types.push_back({input->shape(), input->dtype()});
  Infer infer(parsed->op(), parsed->params().get(), in_types, out_types);
  parsed->op().infer(parsed->params().get(), infer);

  std::vector<NDArray*> values(inputs.begin(), inputs.end());
  std::vector<NDArray> variables;
  for (std::size_t v = 0; v < params.var_locs.size(); ++v)
    variables.push_back(*values[params.variable(v)]);
  std::vector<std::vector<NDArray>> steps(static_cast<std::size_t>(params.num_out_data));
  for (int i = 0; i < params.max_iterations; ++i) {
    if (!holds("_while_loop", *params.condition, pick(values, params.cond_locs), device)) break;
    std::vector<NDArray> results = params.function->run(pick(values, params.func_locs), device);
    for (std::size_t o = 0; o < steps.size(); ++o) steps[o].push_back(std::move(results[o]));
    for (std::size_t v = 0; v < variables.size(); ++v) {
      variables[v] = std::move(results[steps.size() + v]);
      values[params.variable(v)] = &variables[v];
    }
  }
  const Device here = inputs.empty() ? device : inputs[0]->device();
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    deliver_result(parsed->op(), o,
                   o < steps.size() ? padded(steps[o], params.max_iterations, out_types[o], here)
                                    : std::move(variables[o - steps.size()]),
                   outputs[o]);
  }
}

MX_OP(_while_loop, WhileParams)
.doc("Runs a graph on its own results as long as another one gives something else than zero.")
    .input("cond", "The graph that decides.")
    .input_type("Symbol")
    .input("func", "The graph that runs.")
    .input_type("Symbol")
    .inputs("data", "First values of the loop's variables, and what all runs share.",
            &WhileParams::num_args, "num_args")
    .param("num_args", &WhileParams::num_args, "Number of inputs, the graphs among them.")
    .param("num_outputs", &WhileParams::num_outputs, "Outputs of the graph that runs.")
    .param("num_out_data", &WhileParams::num_out_data,
           "Outputs that are stacked; the others are the loop's variables.")
    .param("max_iterations", &WhileParams::max_iterations, "Runs at most, and stacked values.")
    .param("cond_input_locs", &WhileParams::cond_locs, "What the deciding graph takes.")
    .param("func_input_locs", &WhileParams::func_locs, "What the running graph takes.")
    .param("func_var_locs", &WhileParams::var_locs, "Where it takes the loop's variables.")
    .outputs([](const WhileParams& params) { return static_cast<int>(params.num_outputs); })
    .infer(infer_while)
    .shape_from_values();

[[maybe_unused]] const bool added =
    add_subgraph_op("_while_loop", {bind_while}) && add_array_op("_while_loop", {run_while});

}  // namespace
}  // namespace mxnet
