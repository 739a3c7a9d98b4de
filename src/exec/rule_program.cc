// SPDX-License-Identifier: Apache-2.0
// Runs a rule on placeholders and writes down which nodes came of it.
#include "exec/rule_program.h"

#include <algorithm>
#include <utility>

#include "base/of_thread.h"
#include "exec/call_cache.h"
#include "op/inline_vector.h"
#include "op/named_errors.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

using From = RuleProgram::From;
using Question = RuleProgram::Question;
using ValueSource = RuleProgram::Source;

bool answer(const RuleProgram::Told& told, const ForwardTypes& types) {
  switch (told.question) {
    case Question::kSameShape:
      return types.same_shape(told.input);
    case Question::kSameDtype:
      return types.same_dtype(told.input);
    default:
      return types.floating();
  }
}

// With two calls for each hash, about those of a large network.
using Programs = CallCache<RuleProgramRef, 256>;

// Builds one program. Placeholders of inputs, then of gradients, have their number as scratch.
class RuleReader final : ForwardTypes {
 public:
  RuleReader(const ParsedAttrsRef& parsed, std::span<const bool> wants, std::span<const bool> given,
             bool differentiable, const ForwardTypes* types)
      : op_(parsed->op()), wants_(wants), types_(types), forward_(make_ref<ir::Node>()) {
    forward_->op = &op_;
    forward_->attrs = parsed->attrs();
    forward_->params = parsed->params();
    for (std::size_t i = 0; i < wants.size(); ++i) inputs_.push_back(placeholder());
    std::vector<Value> douts(given.size());
    for (std::size_t o = 0; o < given.size(); ++o) {
      ir::Entry entry = placeholder();
      if (given[o]) douts[o] = Value(std::move(entry));
    }
    Grad grad(inputs_.data(), static_cast<int>(inputs_.size()), forward_, douts, wants,
              differentiable, this);
    values_ = told_by(op_, [&] { return op_.gradient(forward_->params.get(), grad); });
  }

  RuleProgramRef read() {
    const std::size_t count = std::min(wants_.size(), values_.size());
    program_->gradients.resize(wants_.size());
    for (std::size_t i = 0; i < count; ++i)
      if (wants_[i] && values_[i]) order(values_[i].entry().node.get());
    for (std::size_t i = 0; i < count; ++i)
      if (wants_[i] && values_[i]) program_->gradients[i] = source(values_[i].entry());
    find_last_uses();
    return RuleProgramRef(program_.get());
  }

 private:
  bool same_shape(int in) const override { return tell({Question::kSameShape, in}); }
  bool same_dtype(int in) const override { return tell({Question::kSameDtype, in}); }
  bool floating() const override { return tell({Question::kFloating, 0}); }
  bool tell(RuleProgram::Told told) const {
    told.answer = types_ != nullptr && answer(told, *types_);
    program_->told.push_back(told);
    return told.answer;
  }

  ir::Entry placeholder() {
    auto node = make_ref<ir::Node>();
    node->scratch = placeholders_++;
    return {std::move(node), 0, 0};
  }

  bool is_step(const ir::Node& node) const { return !node.is_variable() && &node != &*forward_; }

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
      node->scratch = static_cast<int32_t>(program_->results.size());
      append(*node);
      stack.pop_back();
    }
  }

  void append(const ir::Node& node) {
    InlineVector<std::pair<std::string_view, std::string_view>, 8> attrs;
    for (const auto& [key, text] : node.attrs) attrs.emplace_back(key, text);
    auto& step = program_->steps.emplace_back();
    step.call = parse_attrs(*node.op, attrs.span());
    step.first_result = program_->results.size();
    step.num_results = static_cast<std::size_t>(node.op->num_outputs(node.params.get()));
    for (const ir::Entry& input : node.inputs) step.inputs.push_back(source(input));
    program_->results.resize(step.first_result + step.num_results);
  }

  ValueSource source(const ir::Entry& entry) const {
    if (entry.node == forward_) return {From::kOutput, false, entry.index};
    const int32_t number = entry.node->scratch;
    if (!entry.node->is_variable()) return {From::kResult, false, number + entry.index};
    const auto num_in = static_cast<int32_t>(inputs_.size());
    return number < num_in ? ValueSource{From::kInput, false, number}
                           : ValueSource{From::kOutputGrad, false, number - num_in};
  }

  void find_last_uses() {
    std::vector<int> uses(program_->results.size());
    const auto use = [&](ValueSource& source) {
      if (source.from == From::kResult)
        source.last = uses[static_cast<std::size_t>(source.index)]++ == 0;
    };
    // From the last reader to the first. Gradients that are one result are nobody's own.
    for (ValueSource& gradient : program_->gradients) use(gradient);
    for (std::size_t i = 0; i < program_->gradients.size(); ++i) {
      ValueSource& gradient = program_->gradients[i];
      if (gradient.from != From::kResult) continue;
      gradient.last = uses[static_cast<std::size_t>(gradient.index)] == 1;
      if (gradient.last) result(gradient).input = static_cast<int32_t>(i);
    }
    for (auto step = program_->steps.rbegin(); step != program_->steps.rend(); ++step) {
      for (ValueSource& input : step->inputs) use(input);
      step->donated = 0;
      for (std::size_t i = 0; i < std::min<std::size_t>(step->inputs.size(), 64); ++i) {
        const ValueSource& input = step->inputs[i];
        const auto same = [&](const ValueSource& other) {
          return other.from == From::kResult && other.index == input.index;
        };
        if (input.last && std::ranges::count_if(step->inputs, same) == 1)
          step->donated |= uint64_t{1} << i;
      }
    }
    for (std::size_t r = 0; r < uses.size(); ++r) {
      program_->results[r].used = uses[r] > 0;
      if (uses[r] > 1) program_->results[r].input = -1;
    }
  }

  RuleProgram::Result& result(const ValueSource& source) const {
    return program_->results[static_cast<std::size_t>(source.index)];
  }

  const OpDef& op_;
  const std::span<const bool> wants_;
  const ForwardTypes* const types_;
  const Ref<ir::Node> forward_;
  const Ref<RuleProgram> program_ = make_ref<RuleProgram>();
  std::vector<ir::Entry> inputs_;
  int32_t placeholders_ = 0;
  Gradients values_;
};

uint64_t bits(std::span<const bool> flags) {
  uint64_t all = 0;
  for (std::size_t i = 0; i < flags.size(); ++i) all |= uint64_t{flags[i]} << i;
  return all;
}

bool still_so(const RuleProgram& program, const ForwardTypes& types) {
  return std::ranges::all_of(program.told, [&](const RuleProgram::Told& told) {
    return told.answer == answer(told, types);
  });
}

}  // namespace

RuleProgramRef read_rule(const ParsedAttrsRef& parsed, std::span<const bool> wants,
                         std::span<const bool> given, bool differentiable,
                         const ForwardTypes* types) {
  return RuleReader(parsed, wants, given, differentiable, types).read();
}

RuleProgramRef rule_program(const ParsedAttrsRef& parsed, std::span<const bool> wants,
                            std::span<const bool> given, bool differentiable,
                            const ForwardTypes& types) {
  const auto build = [&] { return read_rule(parsed, wants, given, differentiable, &types); };
  if (wants.size() > 64 || given.size() > 64) return build();
  const CallKey key{parsed.get(), wants.size(), given.size(),
                    bits(wants),  bits(given),  differentiable};
  return of_thread<Programs>().get(
      key, parsed, [&](const RuleProgram& program) { return still_so(program, types); }, build);
}

}  // namespace mxnet
