// SPDX-License-Identifier: Apache-2.0
// Operators of an extension: functions of the user, and the table that the host calls them by.
#pragma once
#include <algorithm>
#include <stdexcept>

#include "mxnet/ext/tensor.h"

namespace mxnet {
namespace ext {

// An operator with a state, which lives from one call to the next and from a call to its gradient.
// Calls that run at the same time have states of their own, so that no state needs a lock.
class CustomStatefulOp {
 public:
  virtual ~CustomStatefulOp() = default;
  virtual MXReturnValue Forward(std::vector<MXTensor>* inputs, std::vector<MXTensor>* outputs,
                                const OpResource& res) = 0;
  // Inputs are the outputs' gradients, then forward's inputs, then its outputs.
  virtual MXReturnValue Backward(std::vector<MXTensor>* /*inputs*/,
                                 std::vector<MXTensor>* /*outputs*/, const OpResource& /*res*/) {
    MX_ERROR_MSG << "the operator has no backward";
    return MX_FAIL;
  }
};

using ShapeList = std::vector<std::vector<unsigned int>>;
using fcomp_t = MXReturnValue (*)(const Attributes&, std::vector<MXTensor>* inputs,
                                  std::vector<MXTensor>* outputs, const OpResource&);
using parseAttrs_t = MXReturnValue (*)(const Attributes&, int* num_inputs, int* num_outputs);
using inferType_t = MXReturnValue (*)(const Attributes&, std::vector<int>* inputs,
                                      std::vector<int>* outputs);
using inferShape_t = MXReturnValue (*)(const Attributes&, ShapeList* inputs, ShapeList* outputs);
using mutateInputs_t = MXReturnValue (*)(const Attributes&, std::vector<int>* input_indices);
using createOpState_t = MXReturnValue (*)(const Attributes&, const MXContext&,
                                          const ShapeList& input_shapes,
                                          const std::vector<int> input_types, CustomStatefulOp**);

// Filled by REGISTER_OP; read-only once the library is open.
class CustomOp {
 public:
  explicit CustomOp(const char* name) : name_(name) {}

  CustomOp& setForward(fcomp_t fn, const char* device) {
    return expect_cpu("setForward", device), forward_ = fn, *this;
  }
  CustomOp& setBackward(fcomp_t fn, const char* device) {
    return expect_cpu("setBackward", device), backward_ = fn, *this;
  }
  CustomOp& setCreateOpState(createOpState_t fn, const char* device) {
    return expect_cpu("setCreateOpState", device), create_state_ = fn, *this;
  }
  CustomOp& setParseAttrs(parseAttrs_t fn) { return parse_attrs_ = fn, *this; }
  // Without: all types are one.
  CustomOp& setInferType(inferType_t fn) { return infer_type_ = fn, *this; }
  // Asked where the shapes of all inputs are known.
  CustomOp& setInferShape(inferShape_t fn) { return infer_shape_ = fn, *this; }
  CustomOp& setMutateInputs(mutateInputs_t fn) { return mutate_inputs_ = fn, *this; }
  CustomOp& setIsSubgraphOp() { return is_subgraph_ = true, *this; }

  // Throws std::logic_error for what a complete operator lacks.
  MXExtOp table() {
    if (!problem_.empty()) throw std::logic_error("operator " + name_ + ": " + problem_);
    if (forward_ == nullptr && create_state_ == nullptr)
      throw std::logic_error("operator " + name_ + " has neither setForward nor setCreateOpState");
    if (!is_subgraph_ && (parse_attrs_ == nullptr || infer_shape_ == nullptr))
      throw std::logic_error("operator " + name_ + " lacks setParseAttrs or setInferShape");
    MXExtOp op{};
    op.name = name_.c_str();
    op.self = this;
    op.flags = (forward_ != nullptr ? kMXExtForward : 0) |
               (backward_ != nullptr ? kMXExtBackward : 0) |
               (create_state_ != nullptr ? kMXExtState : 0) | (is_subgraph_ ? kMXExtSubgraph : 0) |
               (infer_type_ != nullptr ? kMXExtInferTypes : 0) |
               (infer_shape_ != nullptr ? kMXExtInferShapes : 0);
    if (parse_attrs_ != nullptr) op.counts = counts;
    op.infer_types = infer_types;
    op.infer_shapes = infer_shapes;
    if (mutate_inputs_ != nullptr) op.mutated = mutated;
    op.forward = forward;
    op.backward = backward;
    op.create_state = create_state;
    op.state_forward = state_forward;
    op.state_backward = state_backward;
    op.destroy_state = [](void* state) { delete static_cast<CustomStatefulOp*>(state); };
    return op;
  }

 private:
  // Kept for table(): nothing may be thrown while a library is being loaded.
  void expect_cpu(const char* function, const char* device) {
    if (std::strcmp(device, "cpu") != 0)
      problem_ = std::string(function) + " was given \"" + device + "\", expected \"cpu\"";
  }
  static const CustomOp& at(void* self) { return *static_cast<const CustomOp*>(self); }

  static int counts(void* self, const MXExtAttrs* attrs, int32_t* num_inputs, int32_t* num_outputs,
                    MXExtMessage* message) {
    return detail::guarded(message, [&] {
      int in = 0, out = 0;
      const MXReturnValue result = at(self).parse_attrs_(detail::attributes(*attrs), &in, &out);
      *num_inputs = in;
      *num_outputs = out;
      return result;
    });
  }
  static int infer_types(void* self, const MXExtAttrs* attrs, int32_t* inputs, int32_t num_inputs,
                         int32_t* outputs, int32_t num_outputs, MXExtMessage* message) {
    return detail::guarded(message, [&] {
      std::vector<int> in(inputs, inputs + num_inputs), out(outputs, outputs + num_outputs);
      const MXReturnValue result = at(self).infer_type_(detail::attributes(*attrs), &in, &out);
      same_count(in.size(), num_inputs);
      same_count(out.size(), num_outputs);
      std::copy(in.begin(), in.end(), inputs);
      std::copy(out.begin(), out.end(), outputs);
      return result;
    });
  }
  static int infer_shapes(void* self, const MXExtAttrs* attrs, MXExtShape* inputs,
                          int32_t num_inputs, MXExtShape* outputs, int32_t num_outputs,
                          MXExtMessage* message) {
    return detail::guarded(message, [&] {
      ShapeList in, out(static_cast<size_t>(num_outputs));
      for (int32_t i = 0; i < num_inputs; ++i)
        in.emplace_back(inputs[i].dims, inputs[i].dims + inputs[i].ndim);
      const MXReturnValue result = at(self).infer_shape_(detail::attributes(*attrs), &in, &out);
      if (result == MX_SUCCESS) {
        same_count(in.size(), num_inputs);
        same_count(out.size(), num_outputs);
        for (size_t i = 0; i < in.size(); ++i) put_shape(in[i], &inputs[i]);
        for (size_t i = 0; i < out.size(); ++i) put_shape(out[i], &outputs[i]);
      }
      return result;
    });
  }
  static int mutated(void* self, const MXExtAttrs* attrs, int32_t* indices, int32_t capacity,
                     int32_t* count, MXExtMessage* message) {
    return detail::guarded(message, [&] {
      std::vector<int> found;
      const MXReturnValue result = at(self).mutate_inputs_(detail::attributes(*attrs), &found);
      if (found.size() > static_cast<size_t>(capacity))
        throw std::length_error("more inputs are said to be written than there are");
      std::copy(found.begin(), found.end(), indices);
      *count = static_cast<int32_t>(found.size());
      return result;
    });
  }
  static int run(fcomp_t fn, const MXExtCall& call, MXExtMessage* message) {
    return detail::guarded(message, [&] {
      std::vector<MXTensor> inputs = detail::tensors(call.inputs, call.num_inputs);
      std::vector<MXTensor> outputs = detail::tensors(call.outputs, call.num_outputs);
      return fn(detail::attributes(call.attrs), &inputs, &outputs, OpResource(call));
    });
  }
  static int forward(void* self, const MXExtCall* call, MXExtMessage* message) {
    return run(at(self).forward_, *call, message);
  }
  static int backward(void* self, const MXExtCall* call, MXExtMessage* message) {
    return run(at(self).backward_, *call, message);
  }
  static int create_state(void* self, const MXExtAttrs* attrs, const MXExtTensor* inputs,
                          int32_t num_inputs, void** state, MXExtMessage* message) {
    return detail::guarded(message, [&] {
      ShapeList shapes;
      std::vector<int> types;
      for (int32_t i = 0; i < num_inputs; ++i) {
        shapes.emplace_back(inputs[i].shape, inputs[i].shape + inputs[i].ndim);
        types.push_back(inputs[i].dtype);
      }
      const MXContext context = num_inputs > 0 ? MXTensor(inputs[0]).ctx : MXContext::CPU();
      CustomStatefulOp* made = nullptr;
      const MXReturnValue result =
          at(self).create_state_(detail::attributes(*attrs), context, shapes, types, &made);
      if (result == MX_SUCCESS && made == nullptr)
        throw std::logic_error("setCreateOpState's function has made no state");
      *state = made;
      return result;
    });
  }
  static int run_state(decltype(&CustomStatefulOp::Forward) fn, void* state, const MXExtCall& call,
                       MXExtMessage* message) {
    return detail::guarded(message, [&] {
      std::vector<MXTensor> inputs = detail::tensors(call.inputs, call.num_inputs);
      std::vector<MXTensor> outputs = detail::tensors(call.outputs, call.num_outputs);
      return (static_cast<CustomStatefulOp*>(state)->*fn)(&inputs, &outputs, OpResource(call));
    });
  }
  static int state_forward(void* state, const MXExtCall* call, MXExtMessage* message) {
    return run_state(&CustomStatefulOp::Forward, state, *call, message);
  }
  static int state_backward(void* state, const MXExtCall* call, MXExtMessage* message) {
    return run_state(&CustomStatefulOp::Backward, state, *call, message);
  }

  static void same_count(size_t given, int32_t expected) {
    if (given != static_cast<size_t>(expected))
      throw std::length_error("a list has " + std::to_string(given) + " items, expected " +
                              std::to_string(expected));
  }
  static void put_shape(const std::vector<unsigned int>& from, MXExtShape* to) {
    if (from.size() > MX_EXT_MAX_DIMS) throw std::length_error("a shape has over 32 dimensions");
    to->ndim = static_cast<int32_t>(from.size());
    std::copy(from.begin(), from.end(), to->dims);
  }

  const std::string name_;
  std::string problem_;
  bool is_subgraph_ = false;
  fcomp_t forward_ = nullptr, backward_ = nullptr;
  parseAttrs_t parse_attrs_ = nullptr;
  inferType_t infer_type_ = nullptr;
  inferShape_t infer_shape_ = nullptr;
  mutateInputs_t mutate_inputs_ = nullptr;
  createOpState_t create_state_ = nullptr;
};

}  // namespace ext
}  // namespace mxnet
