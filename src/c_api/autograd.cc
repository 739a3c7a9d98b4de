// SPDX-License-Identifier: Apache-2.0
// Recording and differentiation.
#include <memory>

#include <fmt/format.h>

#include "base/of_thread.h"
#include "c_api/callbacks.h"
#include "c_api/guard.h"
#include "c_api/ndarray_handle.h"
#include "exec/autograd_state.h"
#include "exec/backward.h"
#include "exec/tape.h"
#include "op/inline_vector.h"

using namespace mxnet;
using namespace mxnet::c_api;

namespace {

using Refs = InlineVector<NDArray*, 8>;

void refs_of(uint32_t count, NDArrayHandle* handles, const char* function, const char* parameter,
             Refs* refs) {
  if (count > 0) require(handles, function, parameter);
  for (uint32_t i = 0; i < count; ++i) refs->push_back(&array_of(handles[i]));
}

// Null handles, and a null array of them, stand for ones.
void head_grads_of(uint32_t count, NDArrayHandle* handles, Refs* refs) {
  if (handles == nullptr) return;
  for (uint32_t i = 0; i < count; ++i)
    refs->push_back(handles[i] == nullptr ? nullptr : &array_of(handles[i]));
}

void backward_into_buffers(const char* function, uint32_t num_output, NDArrayHandle* outputs,
                           NDArrayHandle* head_grads, const BackwardOptions& options) {
  Refs heads, grads;
  refs_of(num_output, outputs, function, "output_handles", &heads);
  head_grads_of(num_output, head_grads, &grads);
  backward(InputRefs(heads.span()), InputRefs(grads.span()), options);
}

Request checked_request(uint32_t number) {
  if (number > 3) {
    throw Error(ErrorCode::kValue, "MXAutogradMarkVariables",
                fmt::format("given request {}, expected 0 (null), 1 (write), 2 (in-place write) or "
                            "3 (add)",
                            number));
  }
  const auto request = static_cast<Request>(number);
  return request == Request::kInplace ? Request::kWrite : request;
}

struct GradientReturns {
  std::vector<NDArrayHandle> handles;
  std::vector<int> storage_types;
};

// A function of the user as the ABI describes it. Shared by the nodes that hold it; tells the owner
// when it is not needed any more.
class UserFunction {
 public:
  UserFunction(const MXCallbackList& callbacks, const Refs& inputs)
      : callbacks_(callbacks, kCustomFunctionDelete) {
    for (const NDArray* input : inputs) {
      inputs_.push_back({{input->shape(), input->dtype()}, input->device()});
      requests_.push_back(
          static_cast<int>(wants_gradient(*input) ? Request::kWrite : Request::kNull));
    }
  }
  UserFunction(const UserFunction&) = delete;
  UserFunction& operator=(const UserFunction&) = delete;

  std::vector<NDArray> gradient(const std::vector<NDArray>& output_grads) const {
    std::vector<NDArray> input_grads;
    std::vector<void*> handles;  // the callee's to free
    handles.reserve(output_grads.size());
    for (const NDArray& grad : output_grads) handles.push_back(new_handle(grad));
    for (const auto& [type, device] : inputs_) {
      input_grads.emplace_back(type.shape, type.dtype, device);
      handles.push_back(new_handle(input_grads.back()));
    }
    // What the function computes is no part of any graph: it says itself what its gradient is.
    const AutogradScope scope({.recording = false, .training = autograd_state().training});
    if (callbacks_.attempt<CustomFunctionBwdFunc>(
            kCustomFunctionBackward, static_cast<int>(output_grads.size()),
            static_cast<int>(inputs_.size()), handles.data(), requests_.data(),
            autograd_state().training ? 1 : 0) == 0) {
      throw Error(ErrorCode::kGeneric, "custom function",
                  Callbacks::failure("its backward has failed"));
    }
    for (std::size_t i = 0; i < input_grads.size(); ++i)
      if (requests_[i] == static_cast<int>(Request::kNull)) input_grads[i] = NDArray();
    return input_grads;
  }

 private:
  const Callbacks callbacks_;
  std::vector<std::pair<ArrayType, Device>> inputs_;
  std::vector<int> requests_;
};

}  // namespace

int MXAutogradSetIsRecording(int is_recording, int* prev) {
  return guarded([&] {
    require(prev, "MXAutogradSetIsRecording", "prev");
    *prev = std::exchange(autograd_state().recording, is_recording != 0) ? 1 : 0;
  });
}

int MXAutogradSetIsTraining(int is_training, int* prev) {
  return guarded([&] {
    require(prev, "MXAutogradSetIsTraining", "prev");
    *prev = std::exchange(autograd_state().training, is_training != 0) ? 1 : 0;
  });
}

int MXAutogradIsRecording(bool* curr) {
  return guarded([&] {
    require(curr, "MXAutogradIsRecording", "curr");
    *curr = autograd_state().recording;
  });
}

int MXAutogradIsTraining(bool* curr) {
  return guarded([&] {
    require(curr, "MXAutogradIsTraining", "curr");
    *curr = autograd_state().training;
  });
}

int MXAutogradMarkVariables(uint32_t num_var, NDArrayHandle* var_handles, uint32_t* reqs_array,
                            NDArrayHandle* grad_handles) {
  return guarded([&] {
    Refs variables, grads;
    refs_of(num_var, var_handles, "MXAutogradMarkVariables", "var_handles", &variables);
    refs_of(num_var, grad_handles, "MXAutogradMarkVariables", "grad_handles", &grads);
    if (num_var > 0) require(reqs_array, "MXAutogradMarkVariables", "reqs_array");
    for (uint32_t i = 0; i < num_var; ++i)
      mark_variable(*variables[i], checked_request(reqs_array[i]), *grads[i]);
  });
}

int MXAutogradComputeGradient(uint32_t num_output, NDArrayHandle* output_handles) {
  return guarded([&] {
    backward_into_buffers("MXAutogradComputeGradient", num_output, output_handles, nullptr, {});
  });
}

int MXAutogradBackward(uint32_t num_output, NDArrayHandle* output_handles,
                       NDArrayHandle* ograd_handles, int retain_graph) {
  return guarded([&] {
    backward_into_buffers("MXAutogradBackward", num_output, output_handles, ograd_handles,
                          {.retain_graph = retain_graph != 0});
  });
}

int MXAutogradBackwardEx(uint32_t num_output, NDArrayHandle* output_handles,
                         NDArrayHandle* ograd_handles, uint32_t num_variables,
                         NDArrayHandle* var_handles, int retain_graph, int create_graph,
                         int is_train, NDArrayHandle** grad_handles, int** grad_stypes) {
  return guarded([&] {
    const BackwardOptions options{.retain_graph = retain_graph != 0,
                                  .create_graph = create_graph != 0,
                                  .training = is_train != 0};
    if (num_variables == 0) {
      backward_into_buffers("MXAutogradBackwardEx", num_output, output_handles, ograd_handles,
                            options);
      return;
    }
    require(grad_handles, "MXAutogradBackwardEx", "grad_handles");
    require(grad_stypes, "MXAutogradBackwardEx", "grad_stypes");
    Refs heads, head_grads, variables;
    refs_of(num_output, output_handles, "MXAutogradBackwardEx", "output_handles", &heads);
    head_grads_of(num_output, ograd_handles, &head_grads);
    refs_of(num_variables, var_handles, "MXAutogradBackwardEx", "var_handles", &variables);
    std::vector<NDArray> grads = gradients(InputRefs(heads.span()), InputRefs(head_grads.span()),
                                           InputRefs(variables.span()), options);
    GradientReturns& returns = of_thread<GradientReturns>();
    returns.handles.clear();
    returns.storage_types.clear();
    for (NDArray& grad : grads) {
      returns.storage_types.push_back(static_cast<int>(grad.storage_type()));
      returns.handles.push_back(new_handle(std::move(grad)));
    }
    *grad_handles = returns.handles.data();
    *grad_stypes = returns.storage_types.data();
  });
}

int MXCustomFunctionRecord(int num_inputs, NDArrayHandle* inputs, int num_outputs,
                           NDArrayHandle* outputs, struct MXCallbackList* callbacks) {
  return guarded([&] {
    require(callbacks, "MXCustomFunctionRecord", "callbacks");
    if (!autograd_state().recording) {
      throw Error(
          ErrorCode::kValue, "MXCustomFunctionRecord",
          "given a thread that does not record, expected MXAutogradSetIsRecording(1) before");
    }
    if (callbacks->num_callbacks <= kCustomFunctionBackward || callbacks->callbacks == nullptr ||
        callbacks->contexts == nullptr ||
        callbacks->callbacks[kCustomFunctionBackward] == nullptr) {
      throw Error(ErrorCode::kValue, "MXCustomFunctionRecord",
                  "given no backward callback, expected one as the first of the list");
    }
    Refs in, out;
    refs_of(static_cast<uint32_t>(std::max(num_inputs, 0)), inputs, "MXCustomFunctionRecord",
            "inputs", &in);
    refs_of(static_cast<uint32_t>(std::max(num_outputs, 0)), outputs, "MXCustomFunctionRecord",
            "outputs", &out);
    auto function = std::make_shared<const UserFunction>(*callbacks, in);
    record_function([function](const std::vector<NDArray>& grads,
                               std::span<const NDArray>) { return function->gradient(grads); },
                    in.span(), out.span(), Unasked::kLoss);
  });
}
