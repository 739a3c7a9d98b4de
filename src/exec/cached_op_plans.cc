// SPDX-License-Identifier: Apache-2.0
// Finding and compiling plans.
#include "exec/cached_op_plans.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>

#include "base/error.h"
#include "base/of_thread.h"
#include "exec/typed_graph.h"
#include "graph/infer.h"

namespace mxnet {
namespace {

constexpr std::size_t kThreadSlots = 64;

uint64_t next_id() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;  // relaxed: only uniqueness matters
}

// What a thread has found lately; does not keep plans of dead ops alive.
struct ThreadSlot {
  uint64_t op = 0;
  std::weak_ptr<CachedOpPlan> plan;
};

ThreadSlot& thread_slot(uint64_t op, std::span<NDArray* const> inputs, bool training) {
  auto& slots = of_thread<std::array<ThreadSlot, kThreadSlots>>();
  uint64_t hash = op * 2 + (training ? 1 : 0);
  for (const NDArray* input : inputs.first(std::min<std::size_t>(inputs.size(), 4)))
    for (int64_t dim : input->shape().dims())
      hash = (hash ^ static_cast<uint64_t>(dim)) * 0x9E3779B97F4A7C15;
  return slots[(hash ^ hash >> 32) % kThreadSlots];
}

bool fits(const CachedOpKey& key, std::span<NDArray* const> inputs, Device device, bool training,
          const std::vector<bool>& wants) {
  if (key.training != training || key.device != device || key.wants != wants) return false;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (key.types[i].dtype != inputs[i]->dtype() || key.types[i].shape != inputs[i]->shape())
      return false;
  return true;
}

// Less than this too much is not worth the making of instances in another arena.
constexpr std::size_t kUncounted = std::size_t{1} << 20;

// What instances and arenas of other plans may keep while nobody uses them.
std::size_t idle_bytes_beside(const CachedOpPlan& used) {
  return std::max(IdleArenas::kMostBytes, 2 * used.plan().memory().arena_bytes);
}

}  // namespace

CachedOpPlans::CachedOpPlans(const IndexedGraph& graph, const CachedOpFlags& flags)
    : graph_(graph), flags_(flags), id_(next_id()) {}

CachedOpPlanRef CachedOpPlans::find(std::span<NDArray* const> inputs, Device device, bool training,
                                    const std::vector<bool>& wants) {
  ThreadSlot& slot = thread_slot(id_, inputs, training);
  if (slot.op == id_) {
    CachedOpPlanRef plan = slot.plan.lock();
    if (plan && fits(plan->key, inputs, device, training, wants)) {
      note_run(*plan);
      return plan;
    }
  }
  const MutexLock lock(mutex_);
  auto at = std::find_if(plans_.begin(), plans_.end(), [&](const CachedOpPlanRef& plan) {
    return fits(plan->key, inputs, device, training, wants);
  });
  if (at == plans_.end()) {
    CachedOpKey key{.types = {}, .device = device, .training = training, .wants = wants};
    for (const NDArray* input : inputs) key.types.push_back({input->shape(), input->dtype()});
    plans_.push_front(compile(std::move(key)));
    if (plans_.size() > kMost) plans_.pop_back();
    plans_made_.fetch_add(1, std::memory_order_relaxed);
  } else {
    plans_.splice(plans_.begin(), plans_, at);
  }
  slot = {id_, plans_.front()};
  note_run(*plans_.front());
  return plans_.front();
}

void CachedOpPlans::note_run(CachedOpPlan& plan) const {
  const uint32_t now = plans_made_.load(std::memory_order_relaxed);
  if (plan.last_run.load(std::memory_order_relaxed) != now)
    plan.last_run.store(now, std::memory_order_relaxed);
}

// By the largest of the shapes that came between those met last.
std::size_t CachedOpPlans::bytes_needed_lately() const {
  const uint32_t now = plans_made_.load(std::memory_order_relaxed);
  std::size_t most = 0;
  for (const CachedOpPlanRef& plan : plans_)
    if (now - plan->last_run.load(std::memory_order_relaxed) <= kPlansRemembered)
      most = std::max(most, plan->plan().memory().arena_bytes);
  return most;
}

Ref<PlanInstance> CachedOpPlans::take_instance(const CachedOpPlanRef& plan) {
  if (plan->arenas != nullptr) return instance_in_shared_arena(plan);
  if (Ref<PlanInstance> kept = plan->pool.take()) return kept;
  trim(*plan);
  return make_ref<PlanInstance>(plan->pool.plan());
}

// Operations of calls before may be in flight there: the engine has later ones wait for them.
Ref<PlanInstance> CachedOpPlans::instance_in_shared_arena(const CachedOpPlanRef& plan) {
  Ref<PlanInstance> kept = plan->pool.take();
  Ref<Arena> arena = arenas_->take(kept ? kept->arena().get() : nullptr);
  if (kept && kept->arena() == arena) [[likely]]
    return kept;
  kept = {};
  const bool is_new = !plan->has_run.exchange(true, std::memory_order_relaxed);
  if (arena) {
    const std::span<const std::size_t> needs = plan->plan().memory().arenas;
    const bool holds = arena->holds(needs);
    // A shape that is met for the first time may be the first of many small ones.
    bool too_large = is_new && arena->bytes() > idle_bytes_beside(*plan);
    if (is_new || !holds) {
      const MutexLock lock(mutex_);
      too_large |= is_new && arena->bytes() > bytes_needed_lately() + kUncounted;
      if (too_large || !holds)
        for (const CachedOpPlanRef& each : plans_) each->pool.drop_own(*arena);
    }
    if (too_large) {
      arena = {};
    } else if (!holds) {
      arena = arena->larger(needs);
    }
  }
  if (!arena) arena = make_ref<Arena>(plan->key.device);
  return make_ref<PlanInstance>(plan->pool.plan(), std::move(arena));
}

// Of many large shapes on a device only those used last keep their arenas.
void CachedOpPlans::trim(const CachedOpPlan& used) {
  std::size_t left = idle_bytes_beside(used);
  const MutexLock lock(mutex_);
  const auto is_used = [&](const CachedOpPlanRef& plan) { return plan.get() == &used; };
  const auto at = std::find_if(plans_.begin(), plans_.end(), is_used);
  if (at != plans_.end()) plans_.splice(plans_.begin(), plans_, at);
  for (const CachedOpPlanRef& plan : plans_) {
    if (is_used(plan)) continue;
    const std::size_t idle = plan->pool.idle_bytes();
    if (idle > left) plan->pool.clear();
    left -= std::min(idle, left);
  }
}

int CachedOpPlans::size() const {
  const MutexLock lock(mutex_);
  return static_cast<int>(plans_.size());
}

// Of the graph itself: they name the node where something does not fit.
std::vector<ArrayType> CachedOpPlans::types_of_entries(const CachedOpKey& key) const {
  std::vector<ArrayType> types(static_cast<std::size_t>(graph_.num_entries()));
  const std::span<const int> variables = graph_.variables();
  for (std::size_t v = 0; v < variables.size(); ++v)
    types[static_cast<std::size_t>(graph_.first_entry(variables[v]))] = key.types[v];
  if (!infer_graph(graph_, &types)) {
    throw Error(ErrorCode::kValue, "CachedOp",
                "given inputs from which not all shapes and types follow, expected complete ones");
  }
  check_dtypes(graph_, types);
  return types;
}

PlanOptions CachedOpPlans::options_of(const CachedOpKey& key) const {
  PlanOptions options = PlanOptions::configured(key.device, key.training || !key.wants.empty());
  options.training = key.training;
  options.dead_draws = true;
  options.replay = flags_.static_alloc && flags_.static_shape;
  if (flags_.forward_bulk_size >= 0) options.forward_bulk = flags_.forward_bulk_size;
  if (flags_.backward_bulk_size >= 0) options.backward_bulk = flags_.backward_bulk_size;
  return options;
}

// `forward` with gradients of the inputs that are wanted.
TrainingGraph CachedOpPlans::with_gradients(
    const ir::Graph& forward, const std::vector<bool>& wants,
    const std::map<const ir::Node*, ArrayType>& known) const {
  std::map<const ir::Node*, Ref<ir::Node>> owners;
  for (ir::Node* node : ir::topological_order(graph_.graph().outputs))
    owners.emplace(node, Ref<ir::Node>(node));
  const std::span<const int> variables = graph_.variables();
  std::vector<ir::Entry> wrt;
  for (std::size_t v = 0; v < variables.size(); ++v)
    if (wants[v]) wrt.push_back({owners.at(&graph_.node(variables[v])), 0, 0});
  return training_graph(forward, wrt, known);
}

CachedOpPlanRef CachedOpPlans::compile(CachedOpKey key) const {
  const std::vector<ArrayType> entry_types = types_of_entries(key);
  // Of inputs, then of gradients of outputs, in the order in which callers give them.
  std::map<const ir::Node*, int> source_of;
  std::map<const ir::Node*, ArrayType> known;
  const std::span<const int> variables = graph_.variables();
  for (std::size_t v = 0; v < variables.size(); ++v) {
    const ir::Node* const variable = &graph_.node(variables[v]);
    source_of[variable] = static_cast<int>(v);
    known[variable] = key.types[v];
  }
  PlanOptions options = options_of(key);
  const ir::Graph forward = compiled_graph(graph_.graph(), known, options);
  TrainingGraph training{.graph = forward, .head_grads = {}, .forward_outputs = INT_MAX};
  if (!key.wants.empty()) {
    training = with_gradients(forward, key.wants, known);
    for (std::size_t o = 0; o < training.head_grads.size(); ++o) {
      const ir::Node* head = training.head_grads[o].node.get();
      source_of[head] = static_cast<int>(variables.size() + o);
      known[head] = entry_types[static_cast<std::size_t>(graph_.outputs()[o])];
    }
  }
  options.forward_outputs = training.forward_outputs;
  std::unique_ptr<SparseTail> tail;
  if (!key.wants.empty()) tail = cut_sparse_gradients(&training, key.device);
  if (tail) {
    for (std::size_t c = 0; c < tail->cuts.size(); ++c)
      source_of[tail->cuts[c].get()] =
          static_cast<int>(variables.size() + training.head_grads.size() + c);
    for (int n : tail->graph.graph().variables())
      tail->sources.push_back(source_of.at(&tail->graph.graph().node(n)));
  }
  TypedGraph typed = typed_graph(std::move(training.graph), known, options);
  auto gradient = static_cast<std::size_t>(options.forward_outputs);
  for (std::size_t v = 0; !tail && v < key.wants.size(); ++v)
    if (key.wants[v])
      check_gradient_dtype(typed, gradient++, graph_.node(variables[v]), key.types[v].dtype);
  std::vector<int> sources;
  sources.reserve(typed.graph.variables().size());
  for (int n : typed.graph.variables()) sources.push_back(source_of.at(&typed.graph.node(n)));
  auto result = std::make_shared<CachedOpPlan>(
      std::move(key),
      std::make_shared<const Plan>(std::move(typed.graph), std::move(typed.types), options,
                                   std::move(typed.kernels), std::move(typed.memory)));
  result->sources = std::move(sources);
  result->num_outputs = static_cast<int>(graph_.outputs().size());
  result->tail = std::move(tail);
  // Recorded graphs of a device want their memory to stay where it is.
  if (!options.device.is_gpu()) result->arenas = arenas_;
  return result;
}

}  // namespace mxnet
