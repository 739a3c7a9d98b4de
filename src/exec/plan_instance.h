// SPDX-License-Identifier: Apache-2.0
// The memory that one running caller needs for a plan: arena, tensors, scratch. Running a segment
// neither allocates nor looks anything up.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "exec/graph_replay.h"
#include "exec/plan.h"
#include "exec/plan_scratch.h"

namespace mxnet {

// The arena of one plan after the other: executors that never run at the same time (the buckets of
// one model) share it, and it is as large as the largest of them needs. Used by one thread at a
// time.
class Arena {
 public:
  explicit Arena(Device device) : device_(device) {}
  // At least `bytes`; the old memory stays with those who still hold it.
  const Ref<Chunk>& reserve(std::size_t bytes);
  const Ref<Chunk>& chunk() const { return chunk_; }

 private:
  const Device device_;
  Ref<Chunk> chunk_;
};

// The caller's arrays, one per external of the plan; those that a segment does not use may be none.
using Externals = std::span<const NDArray>;

// Engine operations that run segments of one instance write its variable, so that there is one at a
// time. attach() is for the thread that pushes, run() for whoever runs.
class PlanInstance : public RefCounted {
 public:
  // `arena` null = one of its own.
  explicit PlanInstance(std::shared_ptr<const Plan> plan, std::shared_ptr<Arena> arena = nullptr);

  const Plan& plan() const { return *plan_; }
  Var* var() const { return chunk_->var(); }
  std::size_t arena_bytes() const { return chunk_->bytes(); }
  // Moves to the shared arena's present memory; true if it has changed. Blocks then.
  bool attach();

  // Another with the same values in its arena, once what is pushed before on this one is done.
  Ref<PlanInstance> clone() const;

  // Inside an engine operation that declared var() and the externals that the segment uses.
  void run(const Plan::Segment& segment, Externals externals, const RunContext& context);

  // Variables of a segment's operation, each once.
  void list_variables(const Plan::Segment& segment, Externals externals, std::vector<Var*>* reads,
                      std::vector<Var*>* writes) const;

 private:
  void place_tensors();
  void place_constant(std::size_t t, const NDArray& value);
  void bind(const Plan::Segment& segment, Externals externals);
  void bind_arrays(const Plan::Segment& segment, Externals externals);
  void run_steps(const Plan::Segment& segment, const RunContext& context);
  void run_step_on_gpu(const Plan::Step& step, const RunContext& context);

  const std::shared_ptr<const Plan> plan_;
  const std::shared_ptr<Arena> arena_;
  Ref<Chunk> chunk_;
  bool placed_ = false;                  // tensors in the arena have their addresses
  std::vector<Tensor> tensors_;          // as in the plan; host kernels take these
  std::vector<NDArray> arrays_;          // the same for kernels of devices; empty on the CPU
  std::unique_ptr<GraphReplay> replay_;  // null = steps run one by one
  PlanScratch scratch_;
  std::vector<std::unique_ptr<PreparedRun>> runs_;  // per step; empty where none is prepared
  std::vector<InputOrigin> origins_;                // per tensor; empty likewise
};

}  // namespace mxnet
