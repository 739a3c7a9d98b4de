// SPDX-License-Identifier: Apache-2.0
// Instances of one plan that nobody uses at the moment. Each thread finds its own again: no lock,
// and no two threads wait for one another's activations.
#pragma once
#include <array>
#include <atomic>
#include <memory>

#include "exec/plan_instance.h"

namespace mxnet {

// Thread-safe.
class PlanPool {
 public:
  explicit PlanPool(std::shared_ptr<const Plan> plan) : plan_(std::move(plan)) {}
  ~PlanPool();
  PlanPool(const PlanPool&) = delete;
  PlanPool& operator=(const PlanPool&) = delete;

  const std::shared_ptr<const Plan>& plan() const { return plan_; }
  // The instance that this thread gave last; null if there is none.
  Ref<PlanInstance> take();
  // Operations that use it may still be in flight: whoever takes it queues behind them.
  void give(Ref<PlanInstance> instance);
  // Those that nobody has taken: the bytes of their arenas, and to have them go.
  std::size_t idle_bytes() const;
  void clear();
  // Threads that would queue for the engine's workers with one plan each run it themselves instead.
  bool several_threads() const { return several_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kSlots = 64;
  std::atomic<PlanInstance*>& my_slot();

  const std::shared_ptr<const Plan> plan_;
  // Each owns a reference.
  std::array<std::atomic<PlanInstance*>, kSlots> slots_{};
  std::atomic<uint32_t> first_thread_{0};  // number of the first taker; 0 = nobody yet
  std::atomic<bool> several_{false};       // relaxed: a hint
};

}  // namespace mxnet
