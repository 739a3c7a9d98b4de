// SPDX-License-Identifier: Apache-2.0
// What a gradient rule asks for, as steps over numbered values: built once for all calls of the
// same attributes, executed for each of them (rule_run.h).
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/ref.h"
#include "op/grad.h"
#include "op/params/parsed_attrs.h"

namespace mxnet {

// Immutable.
struct RuleProgram : RefCounted {
  enum class From : uint8_t { kNothing, kInput, kOutput, kOutputGrad, kResult };
  struct Source {
    From from = From::kNothing;
    bool last = false;  // of a result: nobody reads it after this
    int32_t index = 0;
  };
  struct Result {
    bool used = false;
    int32_t input = -1;  // of the forward call, where it is that one's gradient and nothing else
  };
  struct Step {
    ParsedAttrsRef call;
    std::vector<Source> inputs;
    std::size_t first_result, num_results;
    uint64_t donated;  // a bit for each input that nobody needs any more
  };

  std::vector<Step> steps;
  std::vector<Result> results;
  std::vector<Source> gradients;  // per input of the forward call
  // What the rule asked of the forward call's types, and was told.
  enum class Question : uint8_t { kSameShape, kSameDtype, kFloating };
  struct Told {
    Question question;
    int32_t input;
    bool answer = false;
  };
  std::vector<Told> told;
};
using RuleProgramRef = Ref<const RuleProgram>;

// What the rule asks for of a call: of `wants` one for each input, of `given` one for each output,
// whether it has a gradient. `types` null: shapes are not known. Throws what the rule throws.
RuleProgramRef read_rule(const ParsedAttrsRef& parsed, std::span<const bool> wants,
                         std::span<const bool> given, bool differentiable,
                         const ForwardTypes* types);
// The same through this thread's cache.
RuleProgramRef rule_program(const ParsedAttrsRef& parsed, std::span<const bool> wants,
                            std::span<const bool> given, bool differentiable,
                            const ForwardTypes& types);

}  // namespace mxnet
