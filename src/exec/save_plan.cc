// SPDX-License-Identifier: Apache-2.0
// Sees which arrays of the call the steps of a rule refer to.
#include "exec/save_plan.h"

#include <array>
#include <bit>
#include <memory>

#include "base/error.h"
#include "base/of_thread.h"
#include "exec/rule_program.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

constexpr std::size_t kSlots = 1024;  // as the cache of attributes

struct Key {
  ParsedAttrsRef parsed;  // held, so that its address stays its own
  int num_in = 0, num_out = 0;
  uint64_t wants = 0;
};

struct Slot {
  Key key;
  SavePlanRef plan;
};

bool wanted(uint64_t wants, int input) { return wants >> std::min(input, 63) & 1; }

void save(SavePlan& plan, int32_t* position, bool value) {
  if (*position == SavePlan::kNotSaved) {
    *position = static_cast<int32_t>(plan.needs_value.size());
    plan.needs_value.push_back(value);
  } else if (value) {
    plan.needs_value[static_cast<std::size_t>(*position)] = true;
  }
}

void see(SavePlan& plan, RuleProgram::Source source, bool value) {
  const auto index = static_cast<std::size_t>(source.index);
  if (source.from == RuleProgram::From::kInput) save(plan, &plan.inputs[index], value);
  if (source.from == RuleProgram::From::kOutput) save(plan, &plan.outputs[index], value);
}

// What the rule looks at with gradients of the outputs that only gradients read as well, or
// without.
void add(SavePlan& plan, const Key& key, bool differentiable, bool of_hidden) {
  const ParsedAttrs& parsed = *key.parsed;
  const auto num_in = static_cast<std::size_t>(key.num_in);
  const auto num_out = static_cast<std::size_t>(key.num_out);
  const auto flags = std::make_unique<bool[]>(num_in + num_out);
  const std::span<bool> wants(flags.get(), num_in), given(flags.get() + num_in, num_out);
  for (int i = 0; i < key.num_in; ++i) wants[static_cast<std::size_t>(i)] = wanted(key.wants, i);
  const int visible = parsed.op().num_visible_outputs(parsed.params().get());
  for (int o = 0; o < key.num_out; ++o)
    given[static_cast<std::size_t>(o)] = of_hidden || o < visible;
  const RuleProgramRef program = read_rule(key.parsed, wants, given, differentiable, nullptr);
  for (const RuleProgram::Source gradient : program->gradients) see(plan, gradient, true);
  for (const RuleProgram::Step& step : program->steps) {
    for (std::size_t i = 0; i < step.inputs.size(); ++i)
      see(plan, step.inputs[i], !step.call->op().type_only(static_cast<int>(i)));
  }
}

SavePlanRef make_plan(const Key& key) {
  auto plan = make_ref<SavePlan>(key.num_in, key.num_out);
  if (!key.parsed->op().has_gradient()) return SavePlanRef(plan.get());
  for (const bool of_hidden : {true, false}) {
    try {
      for (bool differentiable : {false, true}) add(*plan, key, differentiable, of_hidden);
      break;
    } catch (const Error&) {
      // The rule refuses this call, or gradients of a gradient that it keeps as an output; it will
      // say so when it is asked for them.
    }
  }
  return SavePlanRef(plan.get());
}

}  // namespace

SavePlanRef save_plan(const ParsedAttrsRef& parsed, int num_in, int num_out, uint64_t wants) {
  auto& cache = of_thread<std::array<Slot, kSlots>>();
  const uint64_t hash = (reinterpret_cast<uintptr_t>(parsed.get()) >> 4) * 0x9E3779B97F4A7C15 ^
                        std::rotl(wants, 7) ^ static_cast<uint64_t>(num_in);
  Slot& slot = cache[(hash ^ hash >> 32) % kSlots];
  if (slot.plan && slot.key.parsed == parsed && slot.key.num_in == num_in &&
      slot.key.num_out == num_out && slot.key.wants == wants)
    return slot.plan;
  Key key{parsed, num_in, num_out, wants};
  SavePlanRef plan = make_plan(key);
  slot = {std::move(key), plan};
  return plan;
}

}  // namespace mxnet
