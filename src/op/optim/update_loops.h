// SPDX-License-Identifier: Apache-2.0
// The compiled loops of the update rules: one pass over weight, gradient and states.
#pragma once
#include <array>
#include <cstdint>

#include "op/optim/update_rules.h"

namespace mxnet {

enum class UpdateRule : int {
#define MX_RULE_ID(id, rule) id,
  MX_UPDATE_RULES(MX_RULE_ID)
#undef MX_RULE_ID
};

constexpr int kMaxUpdateStates = 3;

constexpr int update_states(UpdateRule rule) {
  constexpr int kStates[] = {
#define MX_RULE_STATES(id, rule) update_rules::rule<float>::kStates,
      MX_UPDATE_RULES(MX_RULE_STATES)
#undef MX_RULE_STATES
  };
  return kStates[static_cast<int>(rule)];
}

constexpr bool writes_grad(UpdateRule rule) { return rule == UpdateRule::kAdamWScaleGrad; }

// `out` may be `weight`; nothing else overlaps.
template <class T>
struct UpdateArrays {
  T* out;
  const T* weight;
  T* grad;
  std::array<T*, kMaxUpdateStates> state;
};

template <class T>
using UpdateLoop = void (*)(const UpdateScalars& scalars, const UpdateArrays<T>& arrays, int64_t n);

// T: float or double.
template <class T>
UpdateLoop<T> update_loop(UpdateRule rule);
template <class T>
double sum_squares(const T* values, int64_t n);

}  // namespace mxnet
