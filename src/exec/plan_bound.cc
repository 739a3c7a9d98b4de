// SPDX-License-Identifier: Apache-2.0
// Prepared operations of a plan.
#include "exec/plan_bound.h"

#include <algorithm>

#include "base/error.h"
#include "base/omp.h"

namespace mxnet {

struct BoundPlan::State {
  Ref<PlanInstance> instance;
  std::vector<NDArray> externals;
};

BoundPlan::BoundPlan(std::shared_ptr<const Plan> plan, std::vector<NDArray> externals,
                     Ref<Arena> arena)
    : plan_(std::move(plan)), state_(std::make_shared<State>()) {
  MX_ASSERT(static_cast<int>(externals.size()) == plan_->num_externals());
  state_->instance = make_ref<PlanInstance>(plan_, std::move(arena));
  state_->externals = std::move(externals);
  prepare();
}

void BoundPlan::prepare() {
  segments_.clear();
  std::vector<Var*> reads, writes;
  for (const Plan::Segment& segment : plan_->segments()) {
    state_->instance->list_variables(segment, state_->externals, &reads, &writes);
    segments_.push_back(Engine::get().prepare(
        [state = state_, &segment](const RunContext& context) {
          state->instance->run(segment, state->externals, context);
        },
        {.device = plan_->options().device,
         .reads = reads,
         .writes = writes,
         .property = FnProperty::kNormal,
         .priority = 0,
         .name = plan_->segment_name(segment),
         .cheap = segment.cheap,
         .computes = segment.narrow || omp_threads() == 1,
         .temp_bytes = 0}));
  }
}

void BoundPlan::forget_failures(int first_output, int last_output) {
  Engine& engine = Engine::get();
  for (int o = first_output; o < last_output; ++o) {
    const NDArray& array = state_->externals[static_cast<std::size_t>(plan_->num_variables()) +
                                             static_cast<std::size_t>(o)];
    if (!array.is_none() && plan_->overwrites(o)) engine.forget_failure(array.var());
  }
}

void BoundPlan::begin_forward() {
  if (state_->instance->attach()) prepare();
  state_->instance->forget_failures();
  forget_failures(0, std::min(plan_->num_outputs(), plan_->options().forward_outputs));
}

void BoundPlan::forward() {
  begin_forward();
  Engine& engine = Engine::get();
  const std::size_t count = plan_->forward_segments().size();
  for (std::size_t s = 0; s < count; ++s) engine.push(segments_[s]);
}

void BoundPlan::forward_segment(std::size_t index) {
  MX_ASSERT(index < plan_->forward_segments().size());
  if (index == 0) begin_forward();
  Engine::get().push(segments_[index]);
}

void BoundPlan::backward() {
  forget_failures(std::min(plan_->num_outputs(), plan_->options().forward_outputs),
                  plan_->num_outputs());
  Engine& engine = Engine::get();
  for (std::size_t s = plan_->forward_segments().size(); s < segments_.size(); ++s)
    engine.push(segments_[s]);
}

}  // namespace mxnet
