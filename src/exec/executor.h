// SPDX-License-Identifier: Apache-2.0
// A graph bound to arrays: forward and backward run it on them, again and again.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "exec/plan_bound.h"
#include "exec/plan_eager.h"

namespace mxnet {

// Arrays by position: arguments and auxiliary states in the order of IndexedGraph. A gradient may
// be none where the request is kNull.
struct ExecutorArrays {
  std::vector<NDArray> args, grads, aux;
  std::vector<Request> requests;
};

// Used by one thread at a time. Errors of kernels travel through the engine and name the node; a
// later run starts afresh.
class Executor {
 public:
  // `pool`: activations are shared with executors that never run at the same time as this one;
  // null = its own. `groups`: where nodes of these run. What has groups or arguments on several
  // devices goes node by node, on copies. Throws Error(kValue) where arrays do not fit the graph.
  Executor(ir::Graph graph, Device device, ExecutorArrays arrays, Ref<Arena> pool = {},
           const DeviceGroups& groups = {});

  // Computes outputs(). `training`: as operators that differ see it, and keeps what backward needs.
  void forward(bool training);
  // Gradients into the bound arrays, as their requests say. `head_grads` is empty (ones) or has one
  // per output. After a forward in training mode once; after one for inference those of inference,
  // whose forward runs again for it. `training`: the mode of the pass, behind a forward in training
  // mode. Throws Error(kValue) without a forward before it.
  void backward(InputRefs head_grads, bool training = true);

  const IndexedGraph& graph() const { return graph_; }  // as it was given
  Device device() const { return device_; }
  const DeviceGroups& groups() const { return groups_; }
  // Whether nodes run where these groups say.
  bool runs_in(const DeviceGroups& groups) const;
  const ExecutorArrays& arrays() const { return arrays_; }
  const std::vector<NDArray>& outputs() const { return outputs_; }
  const Ref<Arena>& pool() const { return pool_; }

  // Called with "NODE_output" and the value of every node (with inputs too, if `all`) during
  // forward, and with "NODE_backward_output" and the gradient of its input, numbered where it has
  // several, during backward; empty = none. A run that is watched goes node by node.
  using Monitor = std::function<void(const std::string& name, const NDArray& value)>;
  void set_monitor(Monitor monitor, bool all);

  // From now on inference runs on its caller's own thread (CPU). Before the first forward.
  void run_on_caller() { on_caller_ = true; }
  // Inference one operator at a time, from step 0 on; returns how many are left.
  int forward_step(int step);

  // The plan that runs (that of training, if there are gradients), with its memory.
  std::string debug_str();
  // The graph after the passes, without gradients and with layers that run as one in one node.
  ir::Graph optimized_graph() const;

 private:
  enum class State : unsigned char { kIdle, kInferred, kPlanned, kRecorded, kUsed };

  void check_arrays() const;
  void check_gradient(std::size_t argument) const;
  bool has_arguments_elsewhere() const;
  bool shares_states() const;
  void make_stand_ins();
  void hand_over(std::size_t stand_in);
  void make_outputs(const DeviceGroups& groups);
  bool runs_eagerly() const;
  bool wants_gradients() const;
  BoundPlan& inference_plan();
  // With gradients, if any are wanted; operators see the mode that `training` says.
  BoundPlan& training_plan(bool training = true);
  std::map<const ir::Node*, ArrayType> variable_types() const;
  // `heads`: the variables of the head gradients in `graph`, if it has them.
  std::unique_ptr<BoundPlan> compile(ir::Graph graph, PlanOptions options,
                                     std::span<const ir::Entry> heads) const;
  std::unique_ptr<BoundPlan> compile_forward(const PlanOptions& options) const;
  void give_up_runs();
  std::vector<NDArray> externals(const Plan& plan, std::span<const ir::Entry> heads) const;
  // Of any type: programs give a float16 network float32 gradients, which are converted.
  static void check_head_grad(std::size_t o, const NDArray& given, const NDArray& output);
  void set_head_grads(InputRefs head_grads);
  std::vector<NDArray> detached_arrays(bool records) const;
  EagerGraph::Observer monitoring(bool records);
  void forward_eagerly(bool training, bool records);
  void watch_backward(const ir::Node& node, const NDArray& output);
  // `training`: the mode of the forward pass.
  void backward_eagerly(InputRefs head_grads, bool training);
  void forget_failures_of_gradients(InputRefs head_grads) const;

  const IndexedGraph graph_;
  const ir::Graph parted_;  // what runs: the same, or as a backend of whole graphs has left it
  const EagerGraph eager_;  // of that, without the parts that others have taken out
  const Device device_;
  const DeviceGroups groups_;  // empty where all are on one device
  const ExecutorArrays arrays_;
  const bool crosses_;  // values go from device to device
  const Ref<Arena> pool_;
  std::vector<ArrayType> types_;  // per entry of graph(); incomplete with dynamic shapes
  bool eager_only_ = false;
  // What backward writes: the bound arrays, or others for those that lie in what it reads, or where
  // another is written; they are copied, or added, when it has ended, in order.
  std::vector<NDArray> grads_;
  std::vector<std::size_t> stand_ins_;  // positions of the latter
  std::vector<NDArray> outputs_;
  std::vector<NDArray> head_grads_;  // of the plans with gradients
  bool heads_are_ones_ = false;
  std::unique_ptr<BoundPlan> inference_, training_, inference_gradients_, stepwise_;
  bool on_caller_ = false;
  Monitor monitor_;
  bool monitor_all_ = false;
  State state_ = State::kIdle;
  std::vector<NDArray> recorded_;       // results with their tape, between forward and backward
  std::vector<NodeState> node_states_;  // per node of eager_
};

}  // namespace mxnet
