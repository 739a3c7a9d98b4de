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

// The memory of one plan after the other: those that never run at the same time (the buckets of one
// model, the shapes of a cached op's inputs) share it, and it is as large as the largest of them
// needs. Used by one thread at a time.
class Arena : public RefCounted {
 public:
  // Operations that use the scratch memory write the chunk's variable, too.
  struct Piece {
    Ref<Chunk> chunk;
    std::shared_ptr<PlanScratch> scratch;
    bool operator==(const Piece&) const = default;
  };
  explicit Arena(Device device) : device_(device) {}
  // As many pieces or more, of so many bytes or more; the old memory stays with those who still
  // hold it.
  std::span<const Piece> reserve(std::span<const std::size_t> bytes);
  // Whether reserve() would take no memory.
  bool holds(std::span<const std::size_t> bytes) const;
  std::span<const Piece> pieces() const { return pieces_; }
  std::size_t bytes() const;  // of all, without scratch memory

 private:
  bool holds(std::size_t piece, std::size_t bytes) const {
    return piece < pieces_.size() && pieces_[piece].chunk->bytes() >= bytes;
  }

  const Device device_;
  std::vector<Piece> pieces_;
};

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
  // Whether it lies in the present memory of this arena.
  bool lies_in(const Arena& arena) const;
  // Moves to the shared arenas' present memory; true if it has changed. Blocks then.
  bool attach();

  // Another with the same values in its arenas, once what is pushed before on this one is done.
  Ref<PlanInstance> clone() const;

  // Inside an engine operation on the variables that list_variables() gives.
  void run(const Plan::Segment& segment, Externals externals, const RunContext& context);

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
  void run_steps(const Plan::Segment& segment, Externals externals, const RunContext& context);
  void run_step(const Plan::Segment& segment, const Plan::Step& step, Externals externals,
                const RunContext& context);
  void run_turns(const Plan::Segment& segment, const Plan::TurnedSteps& turned, Externals externals,
                 const RunContext& context);
  void move(const Plan::TurnedSteps& turned, std::ptrdiff_t turns);
  void run_step_on_gpu(const Plan::Step& step, const RunContext& context);

  const std::shared_ptr<const Plan> plan_;
  const Ref<Arena> arena_;
  std::vector<Arena::Piece> pieces_;  // per arena of the plan
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
