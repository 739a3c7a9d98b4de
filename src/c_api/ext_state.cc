// SPDX-License-Identifier: Apache-2.0
// Calls of extension operators that have a state. They run on the caller's thread, on arrays that
// are ready; the gradient of a call finds the state of that call.
#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "base/error.h"
#include "c_api/ext_graph.h"
#include "c_api/ext_operator.h"
#include "exec/autograd_state.h"
#include "exec/tape.h"
#include "ndarray/host_write.h"

namespace mxnet::c_api {
namespace {

MXExtTensor tensor_of(const NDArray& array) {
  return ext_tensor(array.data(), array.shape(), array.dtype(), array.device());
}

std::vector<MXExtTensor> tensors_of(std::span<const NDArray> arrays) {
  std::vector<MXExtTensor> tensors;
  for (const NDArray& array : arrays) tensors.push_back(tensor_of(array));
  return tensors;
}

// Lives for one call.
using Scratch = std::vector<NDArray>;

void* workspace(const MXExtCall* call, size_t bytes) noexcept {
  try {
    auto& scratch = *static_cast<Scratch*>(call->host);
    scratch.emplace_back(Shape{static_cast<int64_t>(bytes)}, DType::kUInt8, Device{});
    return scratch.back().data();
  } catch (...) {  // no memory
    return nullptr;
  }
}

using Body = decltype(MXExtOp::state_forward);

void run_body(const ExtParams& params, const ExtState& state, Body body,
              std::span<const NDArray> inputs, std::span<const NDArray> outputs, bool training) {
  for (const NDArray& array : inputs) array.wait_to_read();
  const std::vector<MXExtTensor> in = tensors_of(inputs), out = tensors_of(outputs);
  const ExtAttrList attrs(params.attrs);
  Scratch scratch;
  const MXExtCall call{attrs.get(),
                       in.data(),
                       out.data(),
                       static_cast<int32_t>(in.size()),
                       static_cast<int32_t>(out.size()),
                       training ? 1 : 0,
                       nullptr,
                       workspace,
                       &scratch};
  // What the operator computes is no part of any graph: it says itself what its gradient is.
  const AutogradScope scope({.recording = false, .training = training});
  call_extension(params.op->name, [&](MXExtMessage* message) {
    return state.run([&](void* mine) { return body(mine, &call, message); });
  });
}

// What a call keeps for its gradient.
struct RecordedCall {
  ParsedAttrsRef parsed;
  ExtStates::Lease state;
  std::vector<NDArray> inputs, outputs;  // without tape
  bool training;

  std::vector<NDArray> gradient(const std::vector<NDArray>& output_grads) const {
    const auto& params = *static_cast<const ExtParams*>(parsed->params().get());
    std::vector<NDArray> given = output_grads, grads;
    given.insert(given.end(), inputs.begin(), inputs.end());
    given.insert(given.end(), outputs.begin(), outputs.end());
    for (const NDArray& input : inputs)
      grads.emplace_back(input.shape(), input.dtype(), input.device(), "extension");
    run_body(params, *state, params.op->state_backward, given, grads, training);
    return grads;
  }
};

void check_inputs(const ExtParams& params, std::span<NDArray* const> inputs) {
  if (inputs.size() != static_cast<std::size_t>(params.num_inputs)) {
    throw Error(ErrorCode::kValue, params.op->name,
                fmt::format("given {} arrays, expected {}", inputs.size(), params.num_inputs));
  }
  for (const NDArray* input : inputs) {
    require_dense(*input, params.op->name);
    if (input->device().type == DeviceType::kGPU) {
      throw Error(ErrorCode::kNotImplemented, params.op->name,
                  "given an array on a GPU, expected arrays on the CPU");
    }
  }
}

}  // namespace

ExtStates::Lease ExtStates::take(const std::shared_ptr<ExtStates>& states, const MXExtOp& op,
                                 const MXExtAttrs& attrs, std::span<const MXExtTensor> inputs,
                                 std::vector<ArrayType> types) {
  std::unique_ptr<ExtState> found;
  {
    const MutexLock lock(states->mutex_);
    const auto at = std::find_if(states->free_.begin(), states->free_.end(),
                                 [&](const auto& state) { return state->fits(types); });
    if (at != states->free_.end()) {
      found = std::move(*at);
      states->free_.erase(at);
    }
  }
  if (!found) {
    void* made = nullptr;
    call_extension(op.name, [&](MXExtMessage* message) {
      return op.create_state(op.self, &attrs, inputs.data(), static_cast<int32_t>(inputs.size()),
                             &made, message);
    });
    found = std::make_unique<ExtState>(op, made, std::move(types));
  }
  return Lease(found.release(), [states](ExtState* state) {
    std::unique_ptr<ExtState> back(state);
    const MutexLock lock(states->mutex_);
    states->free_.push_back(std::move(back));
  });
}

void run_ext_state(const ParsedAttrsRef& parsed, std::span<NDArray* const> inputs,
                   OutputRefs outputs, Device device, NodeState* /*state*/) {
  const auto& params = *static_cast<const ExtParams*>(parsed->params().get());
  check_inputs(params, inputs);
  std::vector<NDArray> given, results;
  std::vector<ArrayType> in_types, out_types(outputs.size());
  for (const NDArray* input : inputs) {
    given.push_back(input->detach());
    in_types.push_back({input->shape(), input->dtype()});
  }
  Infer infer(parsed->op(), &params, in_types, out_types);
  parsed->op().infer(&params, infer);
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    if (!out_types[o].complete()) {
      throw Error(ErrorCode::kValue, params.op->name,
                  fmt::format("given inputs from which output {} follows as {} {}, expected a "
                              "complete type and shape",
                              o, dtype_name(out_types[o].dtype), to_string(out_types[o].shape)));
    }
    results.emplace_back(out_types[o].shape, out_types[o].dtype,
                         given.empty() ? device : given[0].device(), "extension");
  }
  for (const NDArray& input : given) input.wait_to_read();
  std::deque<HostWrite> writes;  // in place: they neither copy nor move
  for (const int i : params.mutated) writes.emplace_back(given[static_cast<std::size_t>(i)]);
  const std::vector<MXExtTensor> tensors = tensors_of(given);
  const ExtAttrList attrs(params.attrs);
  const bool training = autograd_state().training;
  ExtStates::Lease state =
      ExtStates::take(params.states, *params.op, attrs.get(), tensors, std::move(in_types));
  run_body(params, *state, params.op->state_forward, given, results, training);
  writes.clear();
  if (autograd_state().recording) {
    std::vector<NDArray> kept;
    std::vector<NDArray*> handles;
    for (NDArray& result : results) {
      kept.push_back(result.detach());
      handles.push_back(&result);
    }
    auto call = std::make_shared<RecordedCall>(
        RecordedCall{parsed, std::move(state), std::move(given), std::move(kept), training});
    record_function([call](const std::vector<NDArray>& grads,
                           std::span<const NDArray>) { return call->gradient(grads); },
                    inputs, handles, Unasked::kLoss);
  }
  for (std::size_t o = 0; o < outputs.size(); ++o)
    deliver_result(parsed->op(), o, std::move(results[o]), outputs[o]);
}

}  // namespace mxnet::c_api
