// SPDX-License-Identifier: Apache-2.0
// Prepared operations of a plan.
#include "exec/plan_bound.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/omp.h"
#include "exec/overwritten.h"

namespace mxnet {

struct BoundPlan::State {
  Ref<PlanInstance> instance;
  std::vector<NDArray> externals;
};

BoundPlan::BoundPlan(std::shared_ptr<const Plan> plan, std::vector<NDArray> externals,
                     Ref<Arena> arena)
    : plan_(std::move(plan)), state_(std::make_shared<State>()) {
  MX_ASSERT(static_cast<int>(externals.size()) == plan_->num_externals());
  if (arena) arena->join(plan_->memory().arenas);
  state_->instance = make_ref<PlanInstance>(plan_, std::move(arena));
  state_->externals = std::move(externals);
  prepare();
}

void BoundPlan::prepare() {
  segments_.clear();
  std::vector<Var*> reads, writes, left = overwritten();
  for (const Plan::Segment& segment : plan_->segments()) {
    uint32_t fresh = state_->instance->list_variables(segment, state_->externals, &reads, &writes);
    // Of outputs in one piece of memory, those that follow stand beside what this run has written.
    const auto behind = std::partition(writes.begin() + fresh, writes.end(),
                                       [&](Var* var) { return std::erase(left, var) > 0; });
    fresh = static_cast<uint32_t>(behind - writes.begin());
    segments_.push_back(Engine::get().prepare(
        [state = state_, &segment, trains = pass_trains_](const RunContext& context) {
          state->instance->run(segment, state->externals, context, trains);
        },
        {.device = plan_->options().device,
         .reads = reads,
         .writes = writes,
         .property = FnProperty::kNormal,
         .priority = 0,
         .name = plan_->segment_name(segment),
         .cheap = segment.cheap,
         .computes = segment.narrow || omp_threads() == 1,
         .temp_bytes = 0,
         .fresh = fresh}));
  }
}

std::vector<Var*> BoundPlan::overwritten() const {
  const std::span<const NDArray> all = state_->externals;
  const auto inputs = all.first(static_cast<std::size_t>(plan_->num_variables()));
  std::vector<const NDArray*> read, written;
  for (const NDArray& input : inputs)
    if (!input.is_none()) read.push_back(&input);
  for (int o = 0; o < plan_->num_outputs(); ++o) {
    const NDArray& output = all[inputs.size() + static_cast<std::size_t>(o)];
    if (!output.is_none() && plan_->overwrites(o)) written.push_back(&output);
  }
  return overwritten_variables(std::move(written), read);
}

BoundPlan::~BoundPlan() { give_up(); }

void BoundPlan::begin() {
  PlanInstance& instance = *state_->instance;
  instance.arena()->make_way_for(instance);
  if (instance.attach()) prepare();
  instance.arena()->set_open_run(&instance);
}

void BoundPlan::give_up() {
  Arena& arena = *state_->instance->arena();
  if (arena.open_run() == state_->instance.get()) arena.set_open_run(nullptr);
}

// Operations of a run whose memory has gone are prepared for no memory that there is.
void BoundPlan::go_on() const {
  if (state_->instance->is_attached()) [[likely]]
    return;
  throw Error(ErrorCode::kValue, "executor",
              "given activations that have made room for those of another executor that shares "
              "their memory, expected a forward of this one before");
}

void BoundPlan::forward() {
  begin();
  Engine& engine = Engine::get();
  const std::size_t count = plan_->forward_segments().size();
  for (std::size_t s = 0; s < count; ++s) engine.push(segments_[s]);
  if (count == segments_.size()) give_up();
}

void BoundPlan::forward_segment(std::size_t index) {
  MX_ASSERT(index < plan_->forward_segments().size());
  index == 0 ? begin() : go_on();
  Engine::get().push(segments_[index]);
  if (index + 1 == segments_.size()) give_up();
}

void BoundPlan::backward(bool trains) {
  go_on();
  if (trains != pass_trains_) [[unlikely]] {
    pass_trains_ = trains;
    prepare();
  }
  Engine& engine = Engine::get();
  for (std::size_t s = plan_->forward_segments().size(); s < segments_.size(); ++s)
    engine.push(segments_[s]);
  give_up();
}

}  // namespace mxnet
