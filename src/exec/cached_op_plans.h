// SPDX-License-Identifier: Apache-2.0
// The plans of one cached op, by the types of its inputs and what is asked of it.
#pragma once
#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include "base/lock.h"
#include "exec/cached_op.h"
#include "exec/idle_arenas.h"
#include "exec/plan_graph.h"
#include "exec/plan_pool.h"
#include "exec/sparse_tail.h"

namespace mxnet {

// What a plan depends on.
struct CachedOpKey {
  std::vector<ArrayType> types;  // of the inputs
  Device device;
  bool training = false;
  std::vector<bool> wants;  // inputs whose gradients are asked for; empty = no backward part
};

// One compiled combination. Immutable but for its pool.
struct CachedOpPlan {
  CachedOpPlan(CachedOpKey key, std::shared_ptr<const Plan> plan)
      : key(std::move(key)), pool(std::move(plan)) {}
  const Plan& plan() const { return *pool.plan(); }
  // Back from a call that needs its activations no more.
  void give(Ref<PlanInstance> instance) {
    if (arenas == nullptr || arenas->give(instance->arena())) pool.give(std::move(instance));
  }

  const CachedOpKey key;
  // Per variable of the plan: position among inputs, then head gradients.
  std::vector<int> sources;
  int num_outputs = 0;  // of the forward part; gradients follow, then what the tail reads
  std::unique_ptr<const SparseTail> tail;  // null for most
  std::shared_ptr<IdleArenas> arenas;      // of all plans of the op; null: instances keep theirs
  PlanPool pool;
  std::atomic<bool> has_run{false};   // in one of these; relaxed: a hint
  std::atomic<uint32_t> last_run{0};  // when the op had so many; relaxed: likewise
};
using CachedOpPlanRef = std::shared_ptr<CachedOpPlan>;

// Thread-safe. A thread finds what it used lately without a lock.
class CachedOpPlans {
 public:
  CachedOpPlans(const IndexedGraph& graph, const CachedOpFlags& flags);

  // `wants` empty = no gradients.
  CachedOpPlanRef find(std::span<NDArray* const> inputs, Device device, bool training,
                       const std::vector<bool>& wants);
  // An instance of one of them, for the caller alone until it gives it back to the plan.
  Ref<PlanInstance> take_instance(const CachedOpPlanRef& plan);
  int size() const;

 private:
  static constexpr std::size_t kMost = 256;  // plans kept; the least recently used goes
  // Plans made before the memory that one needed which did not run meanwhile goes.
  static constexpr uint32_t kPlansRemembered = 8;

  Ref<PlanInstance> instance_in_shared_arena(const CachedOpPlanRef& plan);
  void note_run(CachedOpPlan& plan) const;
  std::size_t bytes_needed_lately() const MX_REQUIRES(mutex_);
  void trim(const CachedOpPlan& used);
  CachedOpPlanRef compile(CachedOpKey key) const;
  std::vector<ArrayType> types_of_entries(const CachedOpKey& key) const;
  PlanOptions options_of(const CachedOpKey& key) const;
  TrainingGraph with_gradients(const ir::Graph& forward, const std::vector<bool>& wants,
                               const std::map<const ir::Node*, ArrayType>& known) const;

  const IndexedGraph& graph_;
  const CachedOpFlags& flags_;
  const uint64_t id_;  // never used twice in a process: tells ops in the threads' caches
  const std::shared_ptr<IdleArenas> arenas_ = std::make_shared<IdleArenas>();
  std::atomic<uint32_t> plans_made_{0};  // relaxed: dates runs
  mutable Mutex mutex_;
  std::list<CachedOpPlanRef> plans_ MX_GUARDED_BY(mutex_);  // most recently used first
};

}  // namespace mxnet
