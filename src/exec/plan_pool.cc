// SPDX-License-Identifier: Apache-2.0
// Slots by thread.
#include "exec/plan_pool.h"

#include <algorithm>

namespace mxnet {
namespace {

// From 1, in the order in which threads first run a plan.
uint32_t thread_number() {
  static std::atomic<uint32_t> threads{0};
  // Relaxed: only the numbers matter.
  thread_local const uint32_t number = threads.fetch_add(1, std::memory_order_relaxed) + 1;
  return number;
}

}  // namespace

PlanPool::~PlanPool() { clear(); }

void PlanPool::clear() {
  for (std::atomic<PlanInstance*>& slot : slots_) {
    if (slot.load(std::memory_order_relaxed) == nullptr) continue;  // spares the exchange
    if (PlanInstance* instance = slot.exchange(nullptr, std::memory_order_acquire))
      if (instance->drop_ref()) delete instance;
  }
}

std::size_t PlanPool::idle_bytes() const {
  const auto idle = std::count_if(slots_.begin(), slots_.end(), [](const auto& slot) {
    return slot.load(std::memory_order_relaxed) != nullptr;  // only counted
  });
  return static_cast<std::size_t>(idle) * plan_->memory().arena_bytes;
}

std::atomic<PlanInstance*>& PlanPool::my_slot() { return slots_[thread_number() % kSlots]; }

Ref<PlanInstance> PlanPool::take() {
  if (!several_threads()) {
    uint32_t nobody = 0;
    // Relaxed: a hint.
    if (!first_thread_.compare_exchange_strong(nobody, thread_number(),
                                               std::memory_order_relaxed) &&
        nobody != thread_number())
      several_.store(true, std::memory_order_relaxed);
  }
  // Acquire: what the giver did to the instance is seen.
  PlanInstance* kept = my_slot().exchange(nullptr, std::memory_order_acquire);
  if (kept == nullptr) return {};
  Ref<PlanInstance> instance(kept);
  kept->drop_ref();  // the slot's; ours keeps it alive
  return instance;
}

void PlanPool::give(Ref<PlanInstance> instance) {
  PlanInstance* const given = instance.release();  // the slot's now
  // Release: see take. One that lies there already came from a call in between; it goes.
  if (PlanInstance* old = my_slot().exchange(given, std::memory_order_acq_rel))
    if (old->drop_ref()) delete old;
}

}  // namespace mxnet
