// SPDX-License-Identifier: Apache-2.0
// Execution of the few steps that a gradient rule asks for.
#include "exec/rule_run.h"

#include "base/error.h"
#include "exec/autograd_state.h"
#include "exec/imperative.h"
#include "exec/rule_program.h"
#include "op/inline_vector.h"

namespace mxnet {
namespace {

using From = RuleProgram::From;
using ValueSource = RuleProgram::Source;

class RuleRun final : ForwardTypes {
 public:
  RuleRun(const OperationNode& forward, std::span<const NDArray> douts,
          std::span<const GradTarget> targets)
      : forward_(forward),
        douts_(douts),
        targets_(targets),
        recording_(autograd_state().recording),
        training_(autograd_state().training && forward.training) {}

  void run(std::span<const bool> wants, std::span<InputGrad> grads) {
    InlineVector<bool, 8> given;
    for (const NDArray& dout : douts_) given.push_back(!dout.is_none());
    program_ = rule_program(forward_.parsed, wants, given.span(), recording_, *this);
    results_.resize(program_->results.size());
    for (const RuleProgram::Step& step : program_->steps) execute(step);
    for (std::size_t i = 0; i < grads.size(); ++i) grads[i] = collect(i);
  }

 private:
  // What the tape does not keep is not known.
  bool same_shape(int in) const override {
    const NDArray* array = forward_.saved_input(in);
    return array != nullptr && array->shape() == forward_.output_types[0].shape;
  }
  bool same_dtype(int in) const override {
    const NDArray* array = forward_.saved_input(in);
    return array != nullptr && array->dtype() == forward_.output_types[0].dtype;
  }
  bool floating() const override { return is_floating(forward_.output_types[0].dtype); }

  // Where the value lies; null where it is not there.
  const NDArray* place(ValueSource source) const {
    switch (source.from) {
      case From::kInput:
        return forward_.saved_input(source.index);
      case From::kOutput:
        return forward_.saved_output(source.index);
      case From::kOutputGrad:
        return &douts_[static_cast<std::size_t>(source.index)];
      case From::kResult:
        return &results_[static_cast<std::size_t>(source.index)];
      default:
        return nullptr;
    }
  }

  // A handle of the value, with its history where that is recorded.
  NDArray copy(ValueSource source) const {
    const NDArray* const there = place(source);
    if (there == nullptr) {
      MX_ASSERT(source.from == From::kOutput);
      // A rule that asked for the gradient of an output that has none: zeros of its type.
      const ArrayType& type = forward_.output_types[static_cast<std::size_t>(source.index)];
      return NDArray(type.shape, type.dtype, forward_.device);
    }
    NDArray array = *there;
    if (!recording_) return array;
    if (source.from == From::kInput) {
      const ir::Entry& entry = forward_.inputs[static_cast<std::size_t>(source.index)];
      set_history(array, static_cast<TapeNode*>(entry.node.get()), entry.index);
    } else if (source.from == From::kOutput) {
      set_history(array, const_cast<OperationNode*>(&forward_), source.index);
    }
    return array;
  }

  static void set_history(NDArray& array, TapeNode* node, int32_t index) {
    if (node != nullptr && node->kind() != TapeNode::Kind::kConstant)
      array.set_tape(Ref<TapeInfo>(new TapeEntry(Ref<TapeNode>(node), index)));
  }

  void execute(const RuleProgram::Step& step) {
    InlineVector<NDArray*, 4> outputs;
    InlineVector<Request, 4> requests;
    const std::size_t end = step.first_result + step.num_results;
    for (std::size_t r = step.first_result; r < end; ++r) {
      const GradTarget* target = target_of(program_->results[r]);
      if (target != nullptr) results_[r] = *target->buffer;
      requests.push_back(target != nullptr ? target->request : Request::kWrite);
      outputs.push_back(&results_[r]);
    }
    if (recording_ || !run_in_place(step, outputs.span(), requests.span()))
      run_on_handles(step, outputs.span(), requests.span());
    for (ValueSource source : step.inputs)
      if (source.last) results_[static_cast<std::size_t>(source.index)] = NDArray();
    for (std::size_t r = step.first_result; r < end; ++r)
      if (!program_->results[r].used) results_[r] = NDArray();
  }

  // On the arrays where they are. False: one of them is not there, nothing has happened.
  bool run_in_place(const RuleProgram::Step& step, OutputRefs outputs,
                    std::span<const Request> requests) const {
    InlineVector<const NDArray*, 4> inputs;
    for (ValueSource source : step.inputs) {
      inputs.push_back(place(source));
      if (inputs.back() == nullptr) return false;
    }
    invoke(step.call->op(), step.call->params(), inputs.span(), outputs,
           {.training = training_,
            .device = forward_.device,
            .requests = requests,
            .donated = step.donated});
    return true;
  }

  void run_on_handles(const RuleProgram::Step& step, OutputRefs outputs,
                      std::span<const Request> requests) const {
    InlineVector<NDArray, 4> handles;
    InlineVector<NDArray*, 4> inputs;
    for (ValueSource source : step.inputs) handles.push_back(copy(source));
    for (NDArray& handle : handles) inputs.push_back(&handle);
    if (recording_) {
      const AutogradScope scope({.recording = true, .training = training_});
      imperative_invoke(step.call, inputs.span(), outputs, forward_.device);
    } else {
      invoke(step.call->op(), step.call->params(), InputRefs(inputs.span()), outputs,
             {.training = training_, .device = forward_.device, .requests = requests});
    }
  }

  const GradTarget* target_of(const RuleProgram::Result& result) const {
    if (recording_ || result.input < 0) return nullptr;
    const GradTarget& target = targets_[static_cast<std::size_t>(result.input)];
    return target.buffer == nullptr ? nullptr : &target;
  }

  InputGrad collect(std::size_t input) {
    const ValueSource source = program_->gradients[input];
    if (source.from == From::kNothing) return {};
    if (source.from != From::kResult) return {copy(source)};
    const auto r = static_cast<std::size_t>(source.index);
    const bool in_target = target_of(program_->results[r]) != nullptr;
    if (!source.last) return {results_[r]};
    return {std::move(results_[r]), in_target, !in_target};
  }

  const OperationNode& forward_;
  const std::span<const NDArray> douts_;
  const std::span<const GradTarget> targets_;
  const bool recording_;
  // What was computed in predict mode has a gradient in predict mode: moving averages stay.
  const bool training_;
  RuleProgramRef program_;
  InlineVector<NDArray, 4> results_;
};

}  // namespace

void run_rule(const OperationNode& node, std::span<const NDArray> douts,
              std::span<const bool> wants, std::span<const GradTarget> targets,
              std::span<InputGrad> grads) {
  if (!node.op->has_gradient()) {
    throw Error(ErrorCode::kValue, node.op->name(),
                "given a gradient to pass on, expected a differentiable operator: this one has no "
                "gradient");
  }
  RuleRun(node, douts, targets).run(wants, grads);
}

}  // namespace mxnet
