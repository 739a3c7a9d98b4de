// SPDX-License-Identifier: Apache-2.0
// Sees which arrays of the call the steps of a rule refer to.
#include "exec/save_plan.h"

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/of_thread.h"
#include "exec/call_cache.h"
#include "exec/rule_program.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

// With two calls for each hash as many as the cache of attributes has.
using Plans = CallCache<SavePlanRef, 512>;

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
void add(SavePlan& plan, const ParsedAttrsRef& parsed, uint64_t wants, bool differentiable,
         bool of_hidden) {
  const std::size_t num_in = plan.inputs.size(), num_out = plan.outputs.size();
  const auto flags = std::make_unique<bool[]>(num_in + num_out);
  const std::span<bool> wanted(flags.get(), num_in), given(flags.get() + num_in, num_out);
  for (std::size_t i = 0; i < num_in; ++i) wanted[i] = wants >> std::min<std::size_t>(i, 63) & 1;
  const auto visible =
      static_cast<std::size_t>(parsed->op().num_visible_outputs(parsed->params().get()));
  for (std::size_t o = 0; o < num_out; ++o) given[o] = of_hidden || o < visible;
  const RuleProgramRef program = read_rule(parsed, wanted, given, differentiable, nullptr);
  for (const RuleProgram::Source gradient : program->gradients) see(plan, gradient, true);
  for (const RuleProgram::Step& step : program->steps) {
    for (std::size_t i = 0; i < step.inputs.size(); ++i)
      see(plan, step.inputs[i], !step.call->op().type_only(static_cast<int>(i)));
  }
}

SavePlanRef make_plan(const ParsedAttrsRef& parsed, int num_in, int num_out, uint64_t wants) {
  auto plan = make_ref<SavePlan>(num_in, num_out);
  if (!parsed->op().has_gradient()) return SavePlanRef(plan.get());
  for (const bool of_hidden : {true, false}) {
    try {
      for (bool differentiable : {false, true})
        add(*plan, parsed, wants, differentiable, of_hidden);
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
  const CallKey key{.call = parsed.get(),
                    .num_in = static_cast<std::size_t>(num_in),
                    .num_out = static_cast<std::size_t>(num_out),
                    .wants = wants};
  return of_thread<Plans>().get(
      key, parsed, [](const SavePlan&) { return true; },
      [&] { return make_plan(parsed, num_in, num_out, wants); });
}

}  // namespace mxnet
