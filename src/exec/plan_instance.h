// SPDX-License-Identifier: Apache-2.0
// The memory that one running caller needs for a plan: arenas, tensors, scratch. Running a segment
// neither allocates nor looks anything up.
#pragma once
#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "base/lock.h"
#include "exec/arena.h"
#include "exec/graph_replay.h"
#include "exec/kept_results.h"
#include "exec/plan.h"

namespace mxnet {

// The caller's arrays, one per external of the plan; those that a segment does not use may be none.
using Externals = std::span<const NDArray>;

// Engine operations that run segments of one instance write the variables of their arenas, so that
// there is one at a time for each. attach() is for the thread that pushes, run() for whoever runs.
class PlanInstance : public RefCounted {
 public:
  // `arena` null = one of its own.
  explicit PlanInstance(std::shared_ptr<const Plan> plan, Ref<Arena> arena = {});

  const Plan& plan() const { return *plan_; }
  const Ref<Arena>& arena() const { return arena_; }
  // Before a run in an arena that others use, too: moves to the memory that is there now, or has
  // it made. True if it was elsewhere before; blocks then.
  bool attach();
  // Whether it lies where attach() left it.
  bool is_attached() const { return !own_.empty() || generation_ == arena_->generation(); }
  // Memory of the arena in which it lies, and which the arena replaces: until the next attach().
  void take_over(std::vector<Arena::Piece> pieces) { own_ = std::move(pieces); }

  // Another with the same values in its arenas, once what is pushed before on this one is done.
  Ref<PlanInstance> clone() const;

  // Inside an engine operation on the variables that list_variables() gives. `pass_trains`: the
  // mode of the backward pass, if it is one.
  void run(const Plan::Segment& segment, Externals externals, const RunContext& context,
           bool pass_trains = true);

  // Variables of a segment's operation, each once. Returns how many of the first of `writes` are
  // arenas that a run begins with: what an earlier one has failed with there is no matter of it.
  uint32_t list_variables(const Plan::Segment& segment, Externals externals,
                          std::vector<Var*>* reads, std::vector<Var*>* writes) const;

 private:
  void ensure_placed();
  void place_tensors() MX_REQUIRES(placing_);
  void place_constant(std::size_t t, const NDArray& value) MX_REQUIRES(placing_);
  void bind(const Plan::Segment& segment, Externals externals);
  void bind_arrays(const Plan::Segment& segment, Externals externals);
  void run_steps(const Plan::Segment& segment, Externals externals, const RunContext& context,
                 bool pass_trains);
  void run_step(const Plan::Segment& segment, const Plan::Step& step, Externals externals,
                const RunContext& context, bool pass_trains);
  void run_turns(const Plan::Segment& segment, const Plan::TurnedSteps& turned, Externals externals,
                 const RunContext& context);
  void move(const Plan::TurnedSteps& turned, std::ptrdiff_t turns);
  void run_step_on_gpu(const Plan::Step& step, const RunContext& context, bool pass_trains);
  bool trains(const Plan::Step& step, bool pass_trains) const {
    return plan_->options().training && (pass_trains || !step.by_pass);
  }

  const std::shared_ptr<const Plan> plan_;
  const Ref<Arena> arena_;
  std::span<const Arena::Piece> pieces() const {
    return own_.empty() ? arena_->pieces() : std::span<const Arena::Piece>(own_);
  }

  uint64_t generation_;            // of the arena's memory
  std::vector<Arena::Piece> own_;  // instead of the arena's; empty for most
  Mutex placing_;
  std::atomic<bool> placed_{false};      // tensors in arenas have their addresses
  std::vector<Tensor> tensors_;          // as in the plan; host kernels take these
  std::vector<NDArray> arrays_;          // the same for kernels of devices; empty on the CPU
  KeptResults kept_;                     // on GPUs
  std::unique_ptr<GraphReplay> replay_;  // null = steps run one by one
  std::vector<std::unique_ptr<PreparedRun>> runs_;  // per step; empty where none is prepared
  std::vector<InputOrigin> origins_;                // per tensor; empty likewise
};

}  // namespace mxnet
