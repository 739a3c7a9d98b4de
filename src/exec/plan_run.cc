// SPDX-License-Identifier: Apache-2.0
// Segments as operations of the engine, forward and backward.
#include "exec/plan_run.h"

#include <algorithm>
#include <atomic>

#include "base/of_thread.h"
#include "base/omp.h"
#include "engine/engine.h"
#include "exec/autograd_state.h"
#include "exec/chunk_set.h"
#include "ndarray/sparse_convert.h"

namespace mxnet {
namespace {

// Inside an operation that reads the externals of the segment. Others beside it may read some of
// them too, and find the same.
void note_versions(const Plan& plan, const Plan::Segment& segment, PlanRun& run) {
  if (run.versions.empty()) return;
  for (const Plan::Use& use : plan.uses(segment)) {
    const auto external = static_cast<std::size_t>(use.external);
    // Relaxed: who asks has waited for the operation.
    if (!use.writes)
      std::atomic_ref(run.versions[external])
          .store(Engine::get().version(run.externals[external].var()), std::memory_order_relaxed);
  }
}

}  // namespace

void push_segments(const CachedOpPlan& plan, const std::shared_ptr<PlanRun>& run,
                   std::span<const Plan::Segment> segments) {
  struct Lists {
    std::vector<Var*> reads, writes;
  };
  auto& [reads, writes] = of_thread<Lists>();
  const Device device = plan.plan().options().device;
  const bool here = plan.pool.several_threads() && !device.is_gpu();
  for (const Plan::Segment& segment : segments) {
    const uint32_t fresh = run->instance->list_variables(segment, run->externals, &reads, &writes);
    Engine::get().push(
        [run, &segment](const RunContext& context) {
          note_versions(run->instance->plan(), segment, *run);
          run->instance->run(segment, run->externals, context, run->pass_trains);
        },
        {.device = device,
         .reads = reads,
         .writes = writes,
         .property = FnProperty::kNormal,
         .priority = 0,
         .name = plan.plan().segment_name(segment),
         .cheap = segment.cheap || here,
         .computes = segment.narrow || omp_threads() == 1,
         .temp_bytes = 0,
         .fresh = fresh});
  }
}

std::vector<NDArray> RecordedRun::backward(std::span<const NDArray> inputs,
                                           std::vector<NDArray> output_grads,
                                           std::span<const NDArray> targets) const {
  const Plan& plan = plan_->plan();
  auto run = std::make_shared<PlanRun>(PlanRun{.instance = run_->instance,
                                               .externals = run_->externals,
                                               .home = run_->home,
                                               .versions = {},
                                               .pass_trains = autograd_state().training});
  // The pass that overwrites the activations must not be the last.
  if (autograd_state().retaining) run->instance = run->instance->clone();
  for (NDArray& grad : output_grads)  // steps of the plan read dense ones
    if (!grad.is_none() && grad.is_sparse()) grad = cast_storage(grad, StorageType::kDense);
  const SparseTail* const tail = plan_->tail.get();
  for (std::size_t v = 0; v < plan_->sources.size(); ++v) {
    const auto source = static_cast<std::size_t>(plan_->sources[v]);
    if (source >= inputs.size()) run->externals[v] = output_grads[source - inputs.size()];
  }
  ChunkSet taken(run->externals.size());  // by what the pass reads, and by what it has written
  for (const NDArray& external : run->externals)
    if (!external.is_none()) taken.insert(external.chunk().get());
  std::vector<NDArray> grads(inputs.size());
  auto o =
      static_cast<std::size_t>(plan.num_variables()) + static_cast<std::size_t>(plan_->num_outputs);
  for (std::size_t i = 0, wanted = 0; i < inputs.size(); ++i) {
    if (!plan_->key.wants[i]) continue;
    if (const std::size_t at = wanted++; tail != nullptr && tail->computes[at]) continue;
    const ArrayType& type = plan_->key.types[i];
    const NDArray& target = targets[i];
    const bool direct = !target.is_none() && !target.is_sparse() && target.device() == run->home &&
                        target.shape() == type.shape && target.dtype() == type.dtype &&
                        !taken.contains(target.chunk().get());
    grads[i] = direct ? target : NDArray(type.shape, type.dtype, run->home, "gradients");
    taken.insert(grads[i].chunk().get());
    run->externals[o++] = grads[i];
  }
  for (std::size_t cut = o; cut < run->externals.size(); ++cut) {
    const ArrayType& type = plan.external_type(static_cast<int>(cut));
    run->externals[cut] = NDArray(type.shape, type.dtype, run->home, "gradients");
  }
  push_segments(*plan_, run, plan.backward_segments());
  if (tail != nullptr)
    tail->run({inputs, output_grads, std::span(run->externals).subspan(o)}, run->home,
              plan_->key.wants, &grads);
  return grads;
}

bool RecordedRun::is_written_since(std::size_t input, const NDArray& array) const {
  Engine::get().wait_for_var(array.var());  // reads of the call, too
  const auto source = std::ranges::find(plan_->sources, static_cast<int>(input));
  if (source == plan_->sources.end()) return false;
  const uint64_t read = run_->versions[static_cast<std::size_t>(source - plan_->sources.begin())];
  return read != PlanRun::kUnread && read != Engine::get().version(array.var());
}

}  // namespace mxnet
