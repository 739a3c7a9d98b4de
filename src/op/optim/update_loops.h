// SPDX-License-Identifier: Apache-2.0
// The compiled loops of the update rules: one pass over weight, gradient and states.
#pragma once
#include <array>
#include <cstdint>

#include "base/half.h"
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

constexpr bool has_master_loop(UpdateRule rule) {
  using enum UpdateRule;
  return rule == kSgd || rule == kSgdMomentum || rule == kNesterov || rule == kNesterovInPlace ||
         rule == kAdamW || rule == kAdamWScaleGrad || rule == kLambDirection;
}

// `out` may be `weight`; nothing else overlaps.
template <class T, class Grad = T>
struct UpdateArrays {
  T* out;
  const T* weight;
  Grad* grad;
  std::array<T*, kMaxUpdateStates> state;
  Grad* rounded = nullptr;  // `out` in the type of the gradient, where that is another one
};

template <class T, class Grad = T>
using UpdateLoop = void (*)(const UpdateScalars& scalars, const UpdateArrays<T, Grad>& arrays,
                            int64_t n);

// T: float or double.
template <class T>
UpdateLoop<T> update_loop(UpdateRule rule);
template <class T>
double sum_squares(const T* values, int64_t n);

// Where gradients are of a half type, weights and states too or float (with a master copy: the
// rules of has_master_loop). For multiples of kHalfStep elements; the same bits as by way of arrays
// of float. Null for other rules and processors. T: Half or float.
constexpr int64_t kHalfStep = 32;
template <class T, class Half>
UpdateLoop<T, Half> half_update_loop(UpdateRule rule);

}  // namespace mxnet
