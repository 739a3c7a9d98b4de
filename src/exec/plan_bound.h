// SPDX-License-Identifier: Apache-2.0
// A plan tied to fixed arrays: everything that the engine has to know is prepared once, a run only
// pushes.
#pragma once
#include <memory>
#include <vector>

#include "exec/plan_instance.h"

namespace mxnet {

// Used by one thread at a time. The arrays are kept alive by the operations in flight.
class BoundPlan {
 public:
  // One array per external of the plan, with its type; those that no step uses may be none.
  BoundPlan(std::shared_ptr<const Plan> plan, std::vector<NDArray> externals,
            Ref<Arena> arena = {});
  ~BoundPlan();
  BoundPlan(const BoundPlan&) = delete;
  BoundPlan& operator=(const BoundPlan&) = delete;

  const Plan& plan() const { return *plan_; }
  // Push all segments of a part. What an earlier run fails with is no matter of this one.
  void forward();
  // `trains`: the mode of the pass.
  void backward(bool trains = true);
  // Pushes one segment of the forward part; the first one begins a run.
  void forward_segment(std::size_t index);
  // What of a run is still to come will not come: its memory is anybody's.
  void give_up();

 private:
  struct State;
  void prepare();
  void begin();
  void go_on() const;
  std::vector<Var*> overwritten() const;

  const std::shared_ptr<const Plan> plan_;
  std::shared_ptr<State> state_;  // shared with the operations
  bool pass_trains_ = true;       // as the operations do that are prepared
  std::vector<PreparedRef> segments_;
};

}  // namespace mxnet
