// SPDX-License-Identifier: Apache-2.0
// _cond: one of two graphs, as a third one decides.
#include <fmt/format.h>

#include "base/error.h"
#include "exec/array_op.h"
#include "exec/decision.h"
#include "op/op_builder.h"

namespace mxnet {
namespace {

struct CondParams {
  int32_t num_args = 0, num_outputs = 0;
  Locations cond_locs, then_locs, else_locs;
  std::shared_ptr<const GraphBody> condition, then_branch, else_branch;
};

ParamsPtr bind_cond(const void* given, SubgraphList graphs) {
  auto params = std::make_shared<CondParams>(*static_cast<const CondParams*>(given));
  params->condition = body_at("_cond", graphs, 0, 3);
  params->then_branch = body_at("_cond", graphs, 1, 3);
  params->else_branch = body_at("_cond", graphs, 2, 3);
  const int64_t inputs = int64_t{params->num_args} - 3;
  check_locations("_cond", "cond_input_locs", params->cond_locs, params->condition->num_inputs(),
                  inputs);
  check_locations("_cond", "then_input_locs", params->then_locs, params->then_branch->num_inputs(),
                  inputs);
  check_locations("_cond", "else_input_locs", params->else_locs, params->else_branch->num_inputs(),
                  inputs);
  if (params->num_outputs != params->then_branch->num_outputs() ||
      params->num_outputs != params->else_branch->num_outputs() ||
      params->condition->num_outputs() != 1) {
    throw Error(ErrorCode::kValue, "_cond",
                fmt::format("given num_outputs={} for graphs of {}, {} and {} outputs, expected a "
                            "condition of one output and branches of {}",
                            params->num_outputs, params->condition->num_outputs(),
                            params->then_branch->num_outputs(), params->else_branch->num_outputs(),
                            params->num_outputs));
  }
  return params;
}

void infer_cond(const CondParams& params, Infer& infer) {
  if (!params.then_branch) no_graphs("_cond");
  std::vector<ArrayType> condition, then_out, else_out;
  infer_with(*params.condition, params.cond_locs, infer, &condition);
  infer_with(*params.then_branch, params.then_locs, infer, &then_out);
  infer_with(*params.else_branch, params.else_locs, infer, &else_out);
  for (std::size_t o = 0; o < then_out.size(); ++o) {
    // Branches may differ: then only running tells.
    if (then_out[o].dtype == else_out[o].dtype)
      infer.out(static_cast<int>(o)).set_dtype(then_out[o].dtype);
    if (then_out[o].shape == else_out[o].shape)
      infer.out(static_cast<int>(o)).set_shape(then_out[o].shape);
  }
}

void run_cond(const ParsedAttrsRef& parsed, std::span<NDArray* const> inputs, OutputRefs outputs,
              Device device, NodeState* /*state*/) {
  const auto& params = *static_cast<const CondParams*>(parsed->params().get());
  if (!params.then_branch) no_graphs("_cond");
  const bool truth = holds("_cond", *params.condition, pick(inputs, params.cond_locs), device);
  const GraphBody& branch = truth ? *params.then_branch : *params.else_branch;
  std::vector<NDArray> results =
      branch.run(pick(inputs, truth ? params.then_locs : params.else_locs), device);
  for (std::size_t o = 0; o < outputs.size(); ++o)
    deliver_result(parsed->op(), o, std::move(results[o]), outputs[o]);
}

MX_OP(_cond, CondParams)
.doc("Runs one of two graphs, as a third one decides.")
    .input("cond", "The graph that decides.")
    .input_type("Symbol")
    .input("then_branch", "Runs if that gives something else than zero.")
    .input_type("Symbol")
    .input("else_branch", "Runs if that gives zero.")
    .input_type("Symbol")
    .inputs("data", "What the graphs take.", &CondParams::num_args, "num_args")
    .param("num_args", &CondParams::num_args, "Number of inputs, the graphs among them.")
    .param("num_outputs", &CondParams::num_outputs, "Outputs of either branch.")
    .param("cond_input_locs", &CondParams::cond_locs, "What the deciding graph takes.")
    .param("then_input_locs", &CondParams::then_locs, "What the first branch takes.")
    .param("else_input_locs", &CondParams::else_locs, "What the second branch takes.")
    .outputs([](const CondParams& params) { return static_cast<int>(params.num_outputs); })
    .infer(infer_cond)
    .shape_from_values();

[[maybe_unused]] const bool added =
    add_subgraph_op("_cond", {bind_cond}) && add_array_op("_cond", {run_cond});

}  // namespace
}  // namespace mxnet
