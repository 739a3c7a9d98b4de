// SPDX-License-Identifier: Apache-2.0
// A run of a cached op's plan: what it computes on, and what a recorded one keeps until backward.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "exec/cached_op_plans.h"
#include "exec/plan_instance.h"

namespace mxnet {

// Arrays and activations of one run, shared by the operations that it pushes.
struct PlanRun {
  Ref<PlanInstance> instance;
  std::vector<NDArray> externals;
  Device home;  // of what it makes
  // Per external, that of the values which the run has read; kUnread before it has. Empty where
  // nobody will ask.
  std::vector<uint64_t> versions;
  static constexpr uint64_t kUnread = ~uint64_t{0};
  bool pass_trains = true;  // the mode of the pass, of a backward one
};

// Pushes segments of the plan's one part in order.
void push_segments(const CachedOpPlan& plan, const std::shared_ptr<PlanRun>& run,
                   std::span<const Plan::Segment> segments);

// What a recorded call keeps until backward. Used by one thread at a time.
class RecordedCall {
 public:
  RecordedCall() = default;
  virtual ~RecordedCall() = default;
  RecordedCall(const RecordedCall&) = delete;
  RecordedCall& operator=(const RecordedCall&) = delete;

  // One gradient per input of the op, none where none was asked for or nothing depends on it.
  // `inputs`: of the call.
  virtual std::vector<NDArray> backward(std::span<const NDArray> inputs,
                                        std::vector<NDArray> output_grads,
                                        std::span<const NDArray> targets) const = 0;
  // Whether the array that was an input of the call, or another in its memory, has been written
  // since. Blocks until the call, and what was pushed on the array, is done.
  virtual bool is_written_since(std::size_t input, const NDArray& array) const = 0;
};

// By a plan. Gives the activations back to its pool when it goes.
class RecordedRun final : public RecordedCall {
 public:
  RecordedRun(CachedOpPlanRef plan, std::shared_ptr<PlanRun> run)
      : plan_(std::move(plan)), run_(std::move(run)) {}
  // A copy: the call itself may still wait in the engine, and it needs the instance.
  ~RecordedRun() override { plan_->give(run_->instance); }

  std::vector<NDArray> backward(std::span<const NDArray> inputs, std::vector<NDArray> output_grads,
                                std::span<const NDArray> targets) const override;
  bool is_written_since(std::size_t input, const NDArray& array) const override;

 private:
  const CachedOpPlanRef plan_;
  const std::shared_ptr<PlanRun> run_;
};

}  // namespace mxnet
