// SPDX-License-Identifier: Apache-2.0
// The memory that one running caller needs for a plan: arenas, tensors, scratch. Running a segment
// neither allocates nor looks anything up.
#pragma once
#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "base/lock.h"
#include "exec/graph_replay.h"
#include "exec/kept_results.h"
#include "exec/plan.h"
#include "exec/plan_scratch.h"

namespace mxnet {

// The arenas of one plan after the other: executors that never run at the same time (the buckets of
// one model) share them, and they are as large as the largest of them needs. Used by one thread at
// a time.
class Arena {
 public:
  explicit Arena(Device device) : device_(device) {}
  // As many chunks or more, of so many bytes or more; the old memory stays with those who still
  // hold it.
  std::span<const Ref<Chunk>> reserve(std::span<const std::size_t> bytes);
  std::size_t bytes() const;  // of all

 private:
  const Device device_;
  std::vector<Ref<Chunk>> chunks_;
};

// The caller's arrays, one per external of the plan; those that a segment does not use may be none.
using Externals = std::span<const NDArray>;

// Engine operations that run segments of one instance write the variables of their arenas, so that
// there is one at a time for each. attach() is for the thread that pushes, run() for whoever runs.
class PlanInstance : public RefCounted {
 public:
  // `arena` null = one of its own.
  explicit PlanInstance(std::shared_ptr<const Plan> plan, std::shared_ptr<Arena> arena = nullptr);

  const Plan& plan() const { return *plan_; }
  // What an earlier run has failed with is no matter of the next one.
  void forget_failures() const;
  // Moves to the shared arenas' present memory; true if it has changed. Blocks then.
  bool attach();

  // Another with the same values in its arenas, once what is pushed before on this one is done.
  Ref<PlanInstance> clone() const;

  // Inside an engine operation on the variables that list_variables() gives.
  void run(const Plan::Segment& segment, Externals externals, const RunContext& context);

  // Variables of a segment's operation, each once.
  void list_variables(const Plan::Segment& segment, Externals externals, std::vector<Var*>* reads,
                      std::vector<Var*>* writes) const;

 private:
  void ensure_placed();
  void place_tensors() MX_REQUIRES(placing_);
  void place_constant(std::size_t t, const NDArray& value) MX_REQUIRES(placing_);
  void bind(const Plan::Segment& segment, Externals externals);
  void bind_arrays(const Plan::Segment& segment, Externals externals);
  void run_steps(const Plan::Segment& segment, Externals externals, const RunContext& context);
  void run_step(const Plan::Segment& segment, const Plan::Step& step, Externals externals,
                const RunContext& context);
  void run_turns(const Plan::Segment& segment, const Plan::TurnedSteps& turned, Externals externals,
                 const RunContext& context);
  void move(const Plan::TurnedSteps& turned, std::ptrdiff_t turns);
  void run_step_on_gpu(const Plan::Step& step, const RunContext& context);

  const std::shared_ptr<const Plan> plan_;
  const std::shared_ptr<Arena> arena_;
  std::vector<Ref<Chunk>> chunks_;  // per arena
  Mutex placing_;
  std::atomic<bool> placed_{false};      // tensors in arenas have their addresses
  std::vector<Tensor> tensors_;          // as in the plan; host kernels take these
  std::vector<NDArray> arrays_;          // the same for kernels of devices; empty on the CPU
  KeptResults kept_;                     // on GPUs
  std::unique_ptr<GraphReplay> replay_;  // null = steps run one by one
  std::vector<std::unique_ptr<PlanScratch>> scratch_;  // per workspace
  std::vector<std::unique_ptr<PreparedRun>> runs_;     // per step; empty where none is prepared
  std::vector<InputOrigin> origins_;                   // per tensor; empty likewise
};

}  // namespace mxnet
