// SPDX-License-Identifier: Apache-2.0
// Execution of the few nodes that a gradient rule builds.
#include "exec/rule_run.h"

#include <fmt/format.h>

#include "base/error.h"
#include "exec/autograd_state.h"
#include "exec/imperative.h"
#include "op/inline_vector.h"
#include "op/named_errors.h"

namespace mxnet {
namespace {

// A value that is there already: an input of the forward call or the gradient of an output.
class ValueNode final : public ir::Node {
 public:
  explicit ValueNode(NDArray value) : value(std::move(value)) {}
  const NDArray value;
};

// A result of a gradient node.
struct Result {
  NDArray array;
  int uses = 0;    // by nodes not yet executed, and by the caller
  int input = -1;  // of the forward call: it may be computed into that one's target
};

// A gradient node in order of execution.
struct Step {
  ir::Node* node;
  std::vector<Result> results;
};

class RuleRun final : ForwardTypes {
 public:
  RuleRun(const OperationNode& forward, std::span<const GradTarget> targets)
      : forward_(forward),
        targets_(targets),
        recording_(autograd_state().recording),
        training_(autograd_state().training && forward.training) {}

  std::vector<InputGrad> run(std::span<const NDArray> douts, std::span<const bool> wants) {
    const Gradients values = build(douts, wants);
    std::vector<InputGrad> grads(forward_.inputs.size());
    for (std::size_t i = 0; i < grads.size() && i < values.size(); ++i) {
      if (!wants[i] || !values[i]) continue;
      order(values[i].entry().node.get());
      use(values[i].entry(), static_cast<int>(i));
    }
    count_uses();
    for (Step& step : steps_) execute(step);
    for (std::size_t i = 0; i < grads.size() && i < values.size(); ++i)
      if (wants[i] && values[i]) grads[i] = collect(values[i].entry(), i);
    return grads;
  }

 private:
  // The entry of a forward input, as history for recording.
  NDArray with_history(NDArray array, const ir::Entry& entry) const {
    if (recording_ && !array.is_none() && entry.node) {
      auto* node = static_cast<TapeNode*>(entry.node.get());
      if (node->kind() != TapeNode::Kind::kConstant)
        array.set_tape(Ref<TapeInfo>(new TapeEntry(Ref<TapeNode>(node), entry.index)));
    }
    return array;
  }

  Gradients build(std::span<const NDArray> douts, std::span<const bool> wants) {
    std::vector<ir::Entry> inputs;
    inputs.reserve(forward_.inputs.size());
    for (std::size_t i = 0; i < forward_.inputs.size(); ++i) {
      NDArray saved = forward_.saved_input(static_cast<int>(i));
      inputs.push_back({value(with_history(std::move(saved), forward_.inputs[i])), 0, 0});
    }
    std::vector<Value> dout_values(douts.size());
    for (std::size_t o = 0; o < douts.size(); ++o)
      if (!douts[o].is_none()) dout_values[o] = Value(ir::Entry{value(douts[o]), 0, 0});
    // Rules read the attributes of the forward node; the tape shares them until now.
    auto* forward = const_cast<OperationNode*>(&forward_);
    if (forward->attrs.empty()) forward->attrs = forward_.parsed->attrs();
    self_ = Ref<ir::Node>(forward);
    Grad grad(inputs.data(), static_cast<int>(inputs.size()), self_, dout_values, wants, recording_,
              this);
    return told_by(*forward_.op,
                   [&] { return forward_.op->gradient(forward_.params.get(), grad); });
  }

  // What the tape does not keep is not known.
  bool same_shape(int in) const override {
    const NDArray array = forward_.saved_input(in);
    return !array.is_none() && array.shape() == forward_.output_types[0].shape;
  }
  bool same_dtype(int in) const override {
    const NDArray array = forward_.saved_input(in);
    return !array.is_none() && array.dtype() == forward_.output_types[0].dtype;
  }

  static Ref<ir::Node> value(NDArray array) {
    return Ref<ir::Node>(new ValueNode(std::move(array)));
  }

  bool is_step(const ir::Node& node) const { return !node.is_variable() && &node != &forward_; }
  Result& result(const ir::Entry& entry) {
    return steps_[static_cast<std::size_t>(entry.node->scratch)]
        .results[static_cast<std::size_t>(entry.index)];
  }

  // Appends the nodes that `root` needs and itself, each once, inputs first.
  void order(ir::Node* root) {
    constexpr int32_t kOpen = -2;
    std::vector<std::pair<ir::Node*, std::size_t>> stack;
    const auto open = [&](ir::Node* node) {
      if (!is_step(*node) || node->scratch != -1) return;
      node->scratch = kOpen;
      stack.emplace_back(node, 0);
    };
    open(root);
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      if (next < node->inputs.size()) {
        open(node->inputs[next++].node.get());
        continue;
      }
      node->scratch = static_cast<int32_t>(steps_.size());
      const int outputs = node->op->num_outputs(node->params.get());
      steps_.push_back({node, std::vector<Result>(static_cast<std::size_t>(outputs))});
      stack.pop_back();
    }
  }

  // The caller wants this as the gradient of `input`.
  void use(const ir::Entry& entry, int input) {
    if (!is_step(*entry.node)) return;
    Result& wanted = result(entry);
    ++wanted.uses;
    wanted.input = input;
  }
  void count_uses() {
    for (const Step& step : steps_)
      for (const ir::Entry& input : step.node->inputs)
        if (is_step(*input.node)) ++result(input).uses;
  }

  NDArray value_of(const ir::Entry& entry) {
    if (is_step(*entry.node)) {
      Result& source = result(entry);
      return --source.uses == 0 ? std::move(source.array) : source.array;
    }
    NDArray array;
    if (entry.node->is_variable()) {
      array = static_cast<const ValueNode&>(*entry.node).value;
    } else {
      array = with_history(forward_.saved_output(entry.index), {self_, entry.index, 0});
      if (array.is_none()) {
        // A rule that asked for the gradient of an output that has none: zeros of its type.
        const ArrayType& type = forward_.output_types[static_cast<std::size_t>(entry.index)];
        return NDArray(type.shape, type.dtype, forward_.device);
      }
    }
    MX_ASSERT(!array.is_none());
    return array;
  }

  void execute(Step& step) {
    const OpDef& op = *step.node->op;
    InlineVector<NDArray, 4> inputs;
    InlineVector<NDArray*, 4> input_refs, output_refs;
    uint64_t last_uses = 0;
    for (std::size_t i = 0; i < step.node->inputs.size(); ++i) {
      const ir::Entry& entry = step.node->inputs[i];
      MX_ASSERT(entry.node != self_ || op.type_only(static_cast<int>(i)) ||
                !forward_.saved_output(entry.index).is_none());
      const bool last_use = is_step(*entry.node) && result(entry).uses == 1;
      if (last_use && i < 64) last_uses |= uint64_t{1} << i;
      inputs.push_back(value_of(entry));
    }
    for (NDArray& input : inputs) input_refs.push_back(&input);
    InlineVector<Request, 4> requests;
    for (Result& output : step.results) {
      const GradTarget* target = target_of(output);
      if (target != nullptr) output.array = *target->buffer;
      requests.push_back(target != nullptr ? target->request : Request::kWrite);
      output_refs.push_back(&output.array);
    }
    if (recording_) {
      const AutogradScope scope({.recording = true, .training = training_});
      InlineVector<std::pair<std::string_view, std::string_view>, 8> attrs;
      for (const auto& [key, text] : step.node->attrs) attrs.emplace_back(key, text);
      imperative_invoke(parse_attrs(op, attrs.span()), input_refs.span(), output_refs.span(),
                        forward_.device);
    } else {
      invoke(op, step.node->params, InputRefs(input_refs.span()), output_refs.span(),
             {.training = training_,
              .device = forward_.device,
              .requests = requests.span(),
              .donated = last_uses});
    }
    for (Result& output : step.results)
      if (output.uses == 0) output.array = NDArray();
  }

  const GradTarget* target_of(const Result& output) const {
    if (recording_ || output.uses != 1 || output.input < 0) return nullptr;
    const GradTarget& target = targets_[static_cast<std::size_t>(output.input)];
    return target.buffer == nullptr ? nullptr : &target;
  }

  InputGrad collect(const ir::Entry& entry, std::size_t input) {
    const bool step = is_step(*entry.node);
    const bool in_target = step && target_of(result(entry)) != nullptr &&
                           result(entry).input == static_cast<int>(input);
    const bool shared = !step || result(entry).uses > 1;
    return {value_of(entry), in_target, !shared && !in_target};
  }

  const OperationNode& forward_;
  const std::span<const GradTarget> targets_;
  const bool recording_;
  // What was computed in predict mode has a gradient in predict mode: moving averages stay.
  const bool training_;
  Ref<ir::Node> self_;
  std::vector<Step> steps_;
};

}  // namespace

std::vector<InputGrad> run_rule(const OperationNode& node, std::span<const NDArray> douts,
                                std::span<const bool> wants, std::span<const GradTarget> targets) {
  if (!node.op->has_gradient()) {
    throw Error(ErrorCode::kValue, node.op->name(),
                "given a gradient to pass on, expected a differentiable operator: this one has no "
                "gradient");
  }
  return RuleRun(node, targets).run(douts, wants);
}

}  // namespace mxnet
