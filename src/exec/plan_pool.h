// SPDX-License-Identifier: Apache-2.0
// Instances of one plan that nobody uses at the moment. No two threads wait for one another's
// activations.
#pragma once
#include <atomic>
#include <memory>

#include "exec/plan_instance.h"
#include "exec/thread_slots.h"

namespace mxnet {

// Thread-safe.
class PlanPool {
 public:
  explicit PlanPool(std::shared_ptr<const Plan> plan) : plan_(std::move(plan)) {}

  const std::shared_ptr<const Plan>& plan() const { return plan_; }
  // The instance that this thread gave last; null if there is none.
  Ref<PlanInstance> take();
  // Operations that use it may still be in flight: whoever takes it queues behind them.
  void give(Ref<PlanInstance> instance) { idle_.give(std::move(instance)); }
  // Those that nobody has taken: the bytes that their plan needs, and to have them go, all or that
  // of this thread if it lies in an arena that is to have other memory.
  std::size_t idle_bytes() const { return idle_.count() * plan_->memory().arena_bytes; }
  void clear() { idle_.clear(); }
  void drop_own(const Arena& arena) {
    if (Ref<PlanInstance> own = idle_.take(); own && own->arena().get() != &arena)
      idle_.give(std::move(own));
  }
  // Threads that would queue for the engine's workers with one plan each run it themselves instead.
  bool several_threads() const { return several_.load(std::memory_order_relaxed); }

 private:
  const std::shared_ptr<const Plan> plan_;
  ThreadSlots<PlanInstance> idle_;
  std::atomic<uint32_t> first_thread_{0};  // number of the first taker; 0 = nobody yet
  std::atomic<bool> several_{false};       // relaxed: a hint
};

}  // namespace mxnet
