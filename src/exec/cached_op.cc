// SPDX-License-Identifier: Apache-2.0
// Calls: by plan, or node by node where that is asked for or has to be.
#include "exec/cached_op.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "base/error.h"
#include "base/lock.h"
#include "exec/autograd_state.h"
#include "exec/own_tape.h"
#include "exec/plan_graph.h"
#include "exec/plan_run.h"
#include "exec/shared_arrays.h"
#include "exec/storage_types.h"
#include "exec/tape.h"
#include "graph/partition.h"
#include "op/named_errors.h"

namespace mxnet {
namespace {

// CPUs share plans, and results are where the inputs are, as of any operator.
Device home_of(std::span<NDArray* const> inputs, Device device) {
  if (inputs.empty() || inputs[0]->device().type != DeviceType::kCPU) return device;
  return inputs[0]->device();
}

bool overlaps_any(const NDArray& array, std::span<NDArray* const> others) {
  return std::any_of(others.begin(), others.end(),
                     [&](const NDArray* other) { return other->chunk() == array.chunk(); });
}

}  // namespace

// Shared by the op and the tape nodes of its calls, which may live longer.
class CachedOp::Impl {
 public:
  Impl(ir::Graph graph, const CachedOpFlags& flags)
      : flags_(flags),
        graph_(std::move(graph)),
        eager_(IndexedGraph(inline_parts(graph_.graph()))),
        written_(eager_.graph(), graph_),
        plans_(graph_, flags_) {
    const auto num_inputs = static_cast<int>(graph_.variables().size());
    for (const std::vector<int>* list : {&flags_.data_indices, &flags_.param_indices})
      for (int i : *list)
        if (i < 0 || i >= num_inputs)
          throw Error(ErrorCode::kValue, "CachedOp",
                      fmt::format("given index {}, expected one of {} inputs", i, num_inputs));
    for (int n = 0; n < eager_.graph().num_nodes(); ++n) {
      const ir::Node& node = eager_.graph().node(n);
      if (node.is_variable()) continue;
      ++num_operators_;
      if (const Unasked alone = node.op->unasked();
          alone != Unasked::kNothing && unasked_ != Unasked::kLoss)
        unasked_ = alone;
    }
    const std::vector<StorageType> storage = infer_storage(eager_.graph(), {}, Device::cpu());
    for (int entry : eager_.graph().outputs())
      makes_sparse_ |= storage[static_cast<std::size_t>(entry)] != StorageType::kDense;
  }

  void set_hook(Hook hook, bool all) {
    auto next = hook ? std::make_shared<const Watcher>(std::move(hook), all) : nullptr;
    const MutexLock lock(hook_mutex_);
    hook_.swap(next);
    is_watched_.store(hook_ != nullptr, std::memory_order_relaxed);
  }
  const IndexedGraph& graph() const { return graph_; }
  int num_plans() const { return plans_.size(); }

  void invoke(const std::shared_ptr<Impl>& self, std::span<NDArray* const> inputs,
              OutputRefs outputs, Device device) {
    check_inputs(inputs, outputs, &device);
    const Device home = home_of(inputs, device);
    const std::shared_ptr<const Watcher> watcher = hook();
    const AutogradState state = autograd_state();
    const bool eager = runs_eagerly(inputs);
    std::vector<bool> wants;
    if (state.recording && !eager) wants = wanted(inputs, outputs);
    if (watcher != nullptr && !wants.empty()) {
      auto tape = std::make_shared<OwnTape>(inputs, outputs.size(), wants);
      invoke_eagerly(tape->inputs(), tape->results(), home, watcher.get());
      std::vector<NDArray> results = tape->detached_results();
      hand_out(results, outputs);
      const CachedOpKey key{
          .types = {}, .device = device, .training = state.training, .wants = std::move(wants)};
      return record_call(self, std::make_shared<const CachedOpKey>(key), std::move(tape), inputs,
                         outputs);
    }
    if (watcher != nullptr || eager) return invoke_eagerly(inputs, outputs, home, watcher.get());
    const CachedOpPlanRef plan = plans_.find(inputs, device, state.training, wants);
    auto run = std::make_shared<PlanRun>();
    run->instance = plans_.take_instance(plan);
    run->home = home;
    std::vector<NDArray> results = fill_externals(*plan, *run, inputs, outputs);
    if (!wants.empty()) run->versions.assign(run->externals.size(), PlanRun::kUnread);
    push_segments(*plan, run, plan->plan().forward_segments());
    hand_out(results, outputs);
    if (wants.empty()) return plan->give(run->instance);
    record_call(self, {plan, &plan->key}, std::make_shared<const RecordedRun>(plan, std::move(run)),
                inputs, outputs);
  }

 private:
  struct Watcher {
    Watcher(Hook of, bool inputs_too) : hook(std::move(of)), all(inputs_too) {}
    const Hook hook;
    const bool all;
  };
  // That of a call, which may outlive the op's.
  std::shared_ptr<const Watcher> hook() const {
    if (!is_watched_.load(std::memory_order_relaxed)) return nullptr;
    const MutexLock lock(hook_mutex_);
    return hook_;
  }

  void check_inputs(std::span<NDArray* const> inputs, OutputRefs outputs, Device* device) const {
    const std::span<const int> variables = graph().variables();
    if (inputs.size() != variables.size() || outputs.size() != graph().outputs().size()) {
      throw Error(ErrorCode::kValue, "CachedOp",
                  fmt::format("given {} inputs and {} outputs, expected {} and {}", inputs.size(),
                              outputs.size(), variables.size(), graph().outputs().size()));
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::string& name = graph().node(variables[i]).name;
      require_data(*inputs[i], name.c_str());
      const Device mine = inputs[i]->device();
      if (i == 0) *device = mine.is_gpu() ? mine : Device::cpu();
      if (mine.is_gpu() == device->is_gpu() && (!mine.is_gpu() || mine == *device)) continue;
      throw Error(ErrorCode::kValue, "CachedOp",
                  fmt::format("given '{}' on {}, expected {} as the other inputs", name,
                              to_string(mine), to_string(*device)));
    }
  }

  bool runs_eagerly(std::span<NDArray* const> inputs) const {
    if (eager_.has_dynamic_shapes() || makes_sparse_) return true;
    if (!flags_.static_alloc && num_operators_ <= flags_.inline_limit) return true;
    return std::any_of(inputs.begin(), inputs.end(),
                       [](const NDArray* input) { return input->is_sparse(); }) ||
           written_.shared(inputs);
  }

  // Inputs whose gradients may be asked for; empty if none.
  std::vector<bool> wanted(std::span<NDArray* const> inputs, OutputRefs outputs) const {
    for (const NDArray* output : outputs) {
      if (output->is_none() || tape_entry(*output) == nullptr) continue;
      throw Error(ErrorCode::kValue, "CachedOp",
                  "given an output array that is already part of a recorded graph, expected "
                  "another one: writing into it while recording would make gradients wrong");
    }
    std::vector<bool> wants(inputs.size());
    bool any = false;
    for (std::size_t i = 0; i < inputs.size(); ++i) any |= wants[i] = wants_gradient(*inputs[i]);
    return any ? wants : std::vector<bool>();
  }

  // The arrays that the plan computes into: given ones, unless an input lies there too.
  std::vector<NDArray> fill_externals(const CachedOpPlan& plan, PlanRun& run,
                                      std::span<NDArray* const> inputs, OutputRefs outputs) const {
    run.externals.resize(static_cast<std::size_t>(plan.plan().num_externals()));
    for (std::size_t v = 0; v < plan.sources.size(); ++v) {
      const auto source = static_cast<std::size_t>(plan.sources[v]);
      if (source < inputs.size()) run.externals[v] = inputs[source]->detach();
    }
    std::vector<NDArray> results;
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      const auto external = static_cast<std::size_t>(plan.plan().num_variables()) + o;
      const ArrayType& type = plan.plan().external_type(static_cast<int>(external));
      const NDArray& given = *outputs[o];
      if (!given.is_none() && (given.shape() != type.shape || given.dtype() != type.dtype)) {
        throw Error(
            ErrorCode::kValue, "CachedOp",
            fmt::format("given output {} of {} {}, expected {} {}", o, dtype_name(given.dtype()),
                        to_string(given.shape()), dtype_name(type.dtype), to_string(type.shape)));
      }
      const bool direct = !given.is_none() && !given.is_sparse() && !overlaps_any(given, inputs) &&
                          !overlaps_any(given, outputs.first(o));
      results.push_back(direct ? given.detach()
                               : NDArray(type.shape, type.dtype, run.home, "outputs"));
      run.externals[external] = results.back();
    }
    return results;
  }

  static void hand_out(std::vector<NDArray>& results, OutputRefs outputs) {
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      if (outputs[o]->is_none()) {
        *outputs[o] = std::move(results[o]);
      } else if (outputs[o]->chunk() != results[o].chunk()) {
        results[o].copy_to(*outputs[o]);
      }
    }
  }

  void record_call(const std::shared_ptr<Impl>& self, std::shared_ptr<const CachedOpKey> key,
                   std::shared_ptr<const RecordedCall> recorded, std::span<NDArray* const> inputs,
                   OutputRefs outputs) const {
    // States move in training alone.
    const Unasked alone =
        key->training || unasked_ == Unasked::kLoss ? unasked_ : Unasked::kNothing;
    std::vector<NDArray> handles;  // with their tape, for gradients of gradients
    handles.reserve(inputs.size());
    for (const NDArray* input : inputs) handles.push_back(*input);
    record_function(
        [self, key = std::move(key), recorded = std::move(recorded), handles](
            std::vector<NDArray> output_grads, std::span<const NDArray> targets) mutable {
          if (autograd_state().recording)
            return self->differentiable_backward(*key, *recorded, handles, std::move(output_grads));
          return recorded->backward(handles, std::move(output_grads), targets);
        },
        inputs, outputs, alone, /*sees_gaps=*/true);
  }

  // Gradients as eager calls that go onto the tape themselves. What they read of the call is
  // computed again, so it must be a function of its inputs.
  std::vector<NDArray> differentiable_backward(const CachedOpKey& key, const RecordedCall& call,
                                               std::vector<NDArray>& inputs,
                                               std::vector<NDArray> output_grads) const {
    const IndexedGraph& whole = eager_.graph();
    std::vector<ir::Entry> wrt;
    std::vector<Ref<ir::Node>> owners;
    for (ir::Node* node : ir::topological_order(graph().graph().outputs))
      if (node->is_variable()) owners.emplace_back(node);
    for (std::size_t v = 0; v < owners.size(); ++v)
      if (key.wants[v]) wrt.push_back({owners[v], 0, 0});
    std::vector<bool> given;
    given.reserve(output_grads.size());
    for (const NDArray& grad : output_grads) given.push_back(!grad.is_none());
    TrainingGraph training = twice_differentiable_graph(whole.graph(), wrt, given);
    ir::Graph gradients;
    gradients.outputs.assign(training.graph.outputs.begin() + training.forward_outputs,
                             training.graph.outputs.end());
    const EagerGraph eager{IndexedGraph(std::move(gradients))};
    for (int n = 0; n < whole.num_nodes(); ++n) {
      const ir::Node& node = whole.node(n);
      const bool draws = node.op != nullptr && eager.graph().contains(node) &&
                         node.op->uses_random(node.params.get(), key.training);
      if (node.is_variable() || (!draws && whole.mutated(n).empty())) continue;
      throw Error(ErrorCode::kValue, title_of(node),
                  "given create_graph=True through a compiled graph in which this operator draws "
                  "random numbers or changes a state, expected the block not to be hybridized");
    }
    check_unwritten(eager.graph(), owners, call, inputs);
    std::vector<NDArray*> variables;
    for (int n : eager.graph().variables()) {
      const ir::Node* node = &eager.graph().node(n);
      for (std::size_t v = 0; v < owners.size(); ++v)
        if (owners[v].get() == node) variables.push_back(&inputs[v]);
      for (std::size_t o = 0; o < training.head_grads.size(); ++o)
        if (training.head_grads[o].node.get() == node) variables.push_back(&output_grads[o]);
    }
    AutogradState as_called = autograd_state();
    as_called.training = key.training;  // as with calls of their own
    const AutogradScope scope(as_called);
    std::vector<NDArray> made = eager.run(variables, key.device);
    std::vector<NDArray> grads(inputs.size());
    std::size_t next = 0;
    for (std::size_t v = 0; v < inputs.size(); ++v)
      if (key.wants[v]) grads[v] = std::move(made[next++]);
    return grads;
  }

  // What nodes of the forward graph compute again, they compute of what their inputs are now.
  void check_unwritten(const IndexedGraph& again, std::span<const Ref<ir::Node>> owners,
                       const RecordedCall& call, std::span<const NDArray> inputs) const {
    for (int n = 0; n < again.num_nodes(); ++n) {
      if (!eager_.graph().contains(again.node(n))) continue;
      for (const ir::Entry& input : again.node(n).inputs) {
        const auto owner = std::ranges::find(owners, input.node);
        const auto v = static_cast<std::size_t>(owner - owners.begin());
        if (owner == owners.end() || !call.is_written_since(v, inputs[v])) continue;
        throw Error(ErrorCode::kValue, "CachedOp",
                    fmt::format("given create_graph=True after '{}', or an array in its memory, "
                                "was written, expected it as it was in the recorded call: a "
                                "compiled graph computes again what the gradient needs",
                                input.node->name));
      }
    }
  }

  void invoke_eagerly(std::span<NDArray* const> inputs, OutputRefs outputs, Device device,
                      const Watcher* watcher) const {
    EagerGraph::Observer observer;
    const bool recording = autograd_state().recording;
    if (watcher != nullptr) {
      observer.output = [&](const ir::Node& node, int o, const NDArray& value) {
        if (!recording && o >= node.op->num_visible_outputs(node.params.get())) return;
        watcher->hook(node.name + "_" + node.op->output_name(node.params.get(), o), node.op->name(),
                      value);
        if (o > 0) return;
        // By the names of 1.x. The call may be differentiated when this op is gone.
        watch_gradients(value,
                        [hook = watcher->hook, name = node.name + "_backward_",
                         op = "_backward_" + node.op->name()](int input, const NDArray& gradient) {
                          hook(name + std::to_string(input), op, gradient);
                        });
      };
      if (watcher->all) {
        observer.input = [&](const ir::Node& node, int i, const NDArray& value) {
          watcher->hook(node.name + "_" + node.op->input_name(node.params.get(), i),
                        node.op->name(), value);
        };
      }
    }
    const std::span<const int> mine = graph().variables();
    std::vector<NDArray*> variables;  // of the graph without parts, which may list them otherwise
    for (int n : eager_.graph().variables()) {
      const int at = graph().index_of(eager_.graph().node(n));
      variables.push_back(inputs[static_cast<std::size_t>(
          std::lower_bound(mine.begin(), mine.end(), at) - mine.begin())]);
    }
    std::vector<NDArray> results =
        eager_.run(variables, device, watcher != nullptr ? &observer : nullptr);
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      if (outputs[o]->is_none()) {
        *outputs[o] = std::move(results[o]);
      } else {
        NDArray& target = *outputs[o];
        if (target.shape() != results[o].shape() || target.dtype() != results[o].dtype()) {
          throw Error(ErrorCode::kValue, "CachedOp",
                      fmt::format("given output {} of {} {}, expected {} {}", o,
                                  dtype_name(target.dtype()), to_string(target.shape()),
                                  dtype_name(results[o].dtype()), to_string(results[o].shape())));
        }
        results[o].copy_to(target);
        target.set_tape(results[o].tape());
      }
    }
  }

  const CachedOpFlags flags_;
  const IndexedGraph graph_;
  const EagerGraph eager_;  // of the same without parts
  const WrittenVariables written_;
  CachedOpPlans plans_;
  int num_operators_ = 0;
  bool makes_sparse_ = false;            // a sparse result of dense inputs, which no plan has
  Unasked unasked_ = Unasked::kNothing;  // of its operators together
  // Relaxed: a call that comes beside set_hook() is one before or one after it.
  std::atomic<bool> is_watched_{false};
  mutable Mutex hook_mutex_;
  std::shared_ptr<const Watcher> hook_ MX_GUARDED_BY(hook_mutex_);  // null: nobody watches
};

CachedOp::CachedOp(ir::Graph graph, const CachedOpFlags& flags)
    : impl_(std::make_shared<Impl>(std::move(graph), flags)) {}
CachedOp::~CachedOp() = default;

const IndexedGraph& CachedOp::graph() const { return impl_->graph(); }

void CachedOp::invoke(std::span<NDArray* const> inputs, OutputRefs outputs, Device device) {
  impl_->invoke(impl_, inputs, outputs, device);
}

void CachedOp::set_hook(Hook hook, bool all) { impl_->set_hook(std::move(hook), all); }

int CachedOp::num_plans() const { return impl_->num_plans(); }

}  // namespace mxnet
