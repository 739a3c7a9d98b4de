// SPDX-License-Identifier: Apache-2.0
// Calls an operator of the user on arrays, and again for its gradient; the operator "Custom".
#include "c_api/custom_op.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "c_api/ndarray_handle.h"
#include "exec/array_op.h"
#include "exec/autograd_state.h"
#include "exec/invoke.h"
#include "exec/tape.h"
#include "graph/subgraph_op.h"
#include "op/op_builder.h"

namespace mxnet::c_api {
namespace {

// Kinds of arrays, as CustomOpFBFunc has them.
enum Tag { kInput = 0, kOutput = 1, kInputGrad = 2, kOutputGrad = 3, kState = 4 };

NDArray new_array(StorageType storage, const ArrayType& type, Device device) {
  if (storage == StorageType::kRowSparse || storage == StorageType::kCSR)
    return NDArray(storage, type.shape, type.dtype, device);
  return NDArray(type.shape, type.dtype, device, "custom");
}

// What a call keeps for its gradient.
struct CustomCall {
  std::shared_ptr<const CustomProp> prop;
  std::shared_ptr<const CustomOperator> op;
  std::vector<NDArray> inputs, outputs, states;  // without tape; none where not needed
  std::vector<std::pair<ArrayType, Device>> types;
  std::vector<bool> needs, wants;

  std::vector<NDArray> gradient(const std::vector<NDArray>& output_grads) const {
    CustomOperator::Tagged arrays;
    for (std::size_t o = 0; o < output_grads.size(); ++o)
      arrays.emplace_back(needs[o] ? output_grads[o] : NDArray(), kOutputGrad);
    for (const NDArray& input : inputs) arrays.emplace_back(input, kInput);
    for (const NDArray& output : outputs) arrays.emplace_back(output, kOutput);
    const std::size_t first_grad = arrays.size();
    for (std::size_t i = 0; i < inputs.size(); ++i) arrays.emplace_back(NDArray(), kInputGrad);
    for (const NDArray& state : states) arrays.emplace_back(state, kState);
    const std::vector<StorageType> storage = prop->gradient_storage(arrays);

    std::vector<NDArray> grads;
    std::vector<int> requests;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto& [type, device] = types[i];
      grads.push_back(
          new_array(i < storage.size() ? storage[i] : StorageType::kDense, type, device));
      if (!grads.back().is_sparse()) fill_array("zeros_like", grads.back());
      requests.push_back(static_cast<int>(wants[i] ? Request::kWrite : Request::kNull));
      arrays[first_grad + i].first = grads.back();
    }
    op->run(prop->label(), kCustomOpBackward, arrays, requests, autograd_state().training);
    for (std::size_t i = 0; i < grads.size(); ++i)
      if (!wants[i]) grads[i] = NDArray();
    grads.resize(inputs.size() + states.size());  // states have none
    return grads;
  }
};

// What a node keeps: its operator, for arrays of these types.
struct KeptOperator {
  std::vector<ArrayType> types;
  std::shared_ptr<const CustomOperator> op;
};

std::shared_ptr<const CustomOperator> operator_for(const CustomProp& prop,
                                                   std::vector<ArrayType> types, Device device,
                                                   NodeState* state) {
  if (state == nullptr) return prop.new_operator(types, device);
  const auto* kept = static_cast<const KeptOperator*>(state->get());
  if (kept == nullptr || kept->types != types) {
    auto op = prop.new_operator(types, device);
    *state = std::make_shared<KeptOperator>(KeptOperator{std::move(types), std::move(op)});
    kept = static_cast<const KeptOperator*>(state->get());
  }
  return kept->op;
}

void record_call(const std::shared_ptr<const CustomProp>& prop,
                 std::shared_ptr<const CustomOperator> op, std::span<NDArray* const> inputs,
                 std::vector<NDArray>& outputs) {
  auto call = std::make_shared<CustomCall>();
  call->prop = prop;
  call->op = std::move(op);
  call->needs = prop->gradient_needs();
  const std::size_t num_args = prop->arguments().size();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (i >= num_args) {
      call->states.push_back(inputs[i]->detach());
      continue;
    }
    call->types.push_back({{inputs[i]->shape(), inputs[i]->dtype()}, inputs[i]->device()});
    call->wants.push_back(wants_gradient(*inputs[i]));
    call->inputs.push_back(call->needs[outputs.size() + i] ? inputs[i]->detach() : NDArray());
  }
  std::vector<NDArray*> handles;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    handles.push_back(&outputs[o]);
    call->outputs.push_back(call->needs[outputs.size() + num_args + o] ? outputs[o].detach()
                                                                       : NDArray());
  }
  record_function([call](const std::vector<NDArray>& grads,
                         std::span<const NDArray>) { return call->gradient(grads); },
                  inputs, handles, Unasked::kLoss);
}

struct CustomParams {
  std::string op_type;
  std::string rest;  // all other parameters: names and values, each ended by NUL
  MadeOnce made;
};

std::shared_ptr<const CustomProp> make_prop(const CustomParams& params) {
  std::vector<std::string> texts;
  for (std::string_view rest = params.rest; !rest.empty();) {
    const std::size_t end = rest.find('\0');
    texts.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  std::map<std::string, std::string>
      sorted;  // the order in which descriptions have always got them
  for (std::size_t i = 0; i + 1 < texts.size(); i += 2) sorted[texts[i]] = texts[i + 1];
  return registered_prop(params.op_type, sorted);
}

const std::shared_ptr<const CustomProp>& shared_prop(const CustomParams& params) {
  return params.made.get([&] { return make_prop(params); });
}

const CustomProp& prop_of(const CustomParams& params) { return *shared_prop(params); }

void run(const ParsedAttrsRef& parsed, std::span<NDArray* const> inputs, OutputRefs outputs,
         Device device, NodeState* state) {
  run_custom(shared_prop(*static_cast<const CustomParams*>(parsed->params().get())), parsed, inputs,
             outputs, device, state);
}

MX_OP(Custom, CustomParams)
.doc("Calls an operator of the user by the name under which it was registered.")
    .alias("_npi_Custom")
    .input_list("data", "What the operator takes; auxiliary states come last.")
    .param("op_type", &CustomParams::op_type, std::string(), "The registered name.")
    .type_text("string")
    .param("**", &CustomParams::rest, std::string(), "Parameters of the operator itself.")
    .unlisted()
    .num_inputs([](const CustomParams& params) {
      return static_cast<int>(prop_of(params).arguments().size() + prop_of(params).states().size());
    })
    .input_names([](const CustomParams& params) { return input_names(prop_of(params)); })
    .outputs([](const CustomParams& params) {
      return static_cast<int>(prop_of(params).outputs().size());
    })
    .mutates([](const CustomParams& params) { return state_inputs(prop_of(params)); })
    .infer([](const CustomParams& params, Infer& infer) { prop_of(params).infer(infer); })
    .shape_from_values();

std::vector<std::string> output_names(const void* params) {
  return prop_of(*static_cast<const CustomParams*>(params)).outputs();
}

[[maybe_unused]] const bool added =
    add_array_op("Custom", {run}) && add_subgraph_op("Custom", {nullptr, output_names});

}  // namespace

std::vector<std::string> input_names(const CustomProp& prop) {
  std::vector<std::string> names = prop.arguments();
  names.insert(names.end(), prop.states().begin(), prop.states().end());
  return names;
}

std::vector<int> state_inputs(const CustomProp& prop) {
  std::vector<int> states(prop.states().size());
  for (std::size_t s = 0; s < states.size(); ++s)
    states[s] = static_cast<int>(prop.arguments().size() + s);
  return states;
}

void run_custom(const std::shared_ptr<const CustomProp>& shared, const ParsedAttrsRef& parsed,
                std::span<NDArray* const> inputs, OutputRefs outputs, Device device,
                NodeState* state) {
  const CustomProp& prop = *shared;
  const std::size_t num_args = prop.arguments().size();
  if (inputs.size() != num_args + prop.states().size()) {
    throw Error(ErrorCode::kValue, prop.label(),
                fmt::format("given {} arrays, expected {}: {}", inputs.size(),
                            num_args + prop.states().size(), fmt::join(input_names(prop), ", ")));
  }
  std::vector<ArrayType> in_types, out_types(outputs.size());
  for (const NDArray* input : inputs) {
    require_data(*input, prop.label().c_str());
    in_types.push_back({input->shape(), input->dtype()});
  }
  Infer infer(parsed->op(), parsed->params().get(), in_types, out_types);
  prop.infer(infer);
  const Device here = inputs.empty() ? device : inputs[0]->device();
  const std::vector<StorageType> storage = prop.output_storage(inputs);
  std::vector<NDArray> results;
  CustomOperator::Tagged arrays;
  for (std::size_t i = 0; i < num_args; ++i) arrays.emplace_back(inputs[i]->detach(), kInput);
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    if (!out_types[o].complete()) {
      throw Error(ErrorCode::kValue, prop.label(),
                  fmt::format("given inputs from which output '{}' follows as {} {}, expected a "
                              "complete type and shape",
                              prop.outputs()[o], dtype_name(out_types[o].dtype),
                              to_string(out_types[o].shape)));
    }
    results.push_back(new_array(storage[o], out_types[o], here));
    arrays.emplace_back(results.back(), kOutput);
  }
  for (std::size_t i = num_args; i < inputs.size(); ++i)
    arrays.emplace_back(inputs[i]->detach(), kState);
  const std::vector<int> requests(outputs.size(), static_cast<int>(Request::kWrite));
  std::shared_ptr<const CustomOperator> op = operator_for(prop, std::move(in_types), here, state);
  op->run(prop.label(), kCustomOpForward, arrays, requests, autograd_state().training);
  if (autograd_state().recording) record_call(shared, std::move(op), inputs, results);
  for (std::size_t o = 0; o < outputs.size(); ++o)
    deliver_result(parsed->op(), o, std::move(results[o]), outputs[o]);
}

void CustomOperator::run(const std::string& label, CustomOpCallbacks callback, const Tagged& arrays,
                         const std::vector<int>& requests, bool training) const {
  if (!callbacks_.has(callback)) {
    throw Error(ErrorCode::kGeneric, label,
                callback == kCustomOpForward ? "the operator has no forward"
                                             : "the operator has no backward");
  }
  std::vector<void*> handles;  // the callee's to free
  std::vector<int> tags;
  for (const auto& [array, tag] : arrays) {
    handles.push_back(new_handle(array));
    tags.push_back(tag);
  }
  // What the operator computes is no part of any graph: it says itself what its gradient is.
  const AutogradScope scope({.recording = false, .training = training});
  if (callbacks_.attempt<CustomOpFBFunc>(callback, static_cast<int>(handles.size()), handles.data(),
                                         tags.data(), static_cast<const int*>(requests.data()),
                                         training ? 1 : 0) == 0) {
    throw Error(ErrorCode::kGeneric, label,
                Callbacks::failure(callback == kCustomOpForward ? "its forward has failed"
                                                                : "its backward has failed"));
  }
}

}  // namespace mxnet::c_api
