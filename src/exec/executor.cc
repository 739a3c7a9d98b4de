// SPDX-License-Identifier: Apache-2.0
// Binding, and running compiled plans.
#include "exec/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "exec/backend_graph.h"
#include "exec/chunk_set.h"
#include "exec/invoke.h"
#include "exec/overwritten.h"
#include "exec/plan_graph.h"
#include "exec/shared_arrays.h"
#include "exec/storage_types.h"
#include "exec/typed_graph.h"
#include "graph/backends.h"
#include "graph/infer.h"
#include "graph/partition.h"
#include "op/named_errors.h"
#include "op/op_def.h"
#include "op/params/parsed_attrs.h"

namespace mxnet {
namespace {

// Whether training finds what it has found before. What BatchNorm averages, its gradient changes.
bool runs_alike(const ir::Graph& graph) {
  return std::ranges::all_of(ir::topological_order(graph.outputs), [](const ir::Node* node) {
    if (node->is_variable()) return true;
    const void* params = node->params.get();
    if (node->op->uses_random(params, true)) return false;
    if (!node->op->mutated_inputs(params).empty() && node->op->name() != "BatchNorm") return false;
    return std::ranges::all_of(node->subgraphs(),
                               [](const auto& part) { return runs_alike(*part); });
  });
}

}  // namespace

Executor::Executor(ir::Graph graph, Device device, ExecutorArrays arrays, Ref<Arena> pool,
                   const DeviceGroups& groups)
    : graph_(std::move(graph)),
      parted_(groups.empty() ? backend_graph(graph_, arrays.args, arrays.aux) : graph_.graph()),
      eager_(IndexedGraph(inline_parts(parted_))),
      device_(device),
      groups_(spans_devices(eager_.graph(), groups, device) ? groups : DeviceGroups()),
      arrays_(std::move(arrays)),
      crosses_(!groups_.empty() || has_arguments_elsewhere()),
      pool_(pool ? std::move(pool) : make_ref<Arena>(device)),
      types_(static_cast<std::size_t>(this->graph().num_entries())) {
  check_arrays();
  const auto set = [&](std::span<const int> nodes, const std::vector<NDArray>& values) {
    for (std::size_t i = 0; i < nodes.size(); ++i)
      types_[static_cast<std::size_t>(this->graph().first_entry(nodes[i]))] = {values[i].shape(),
                                                                               values[i].dtype()};
  };
  set(this->graph().arguments(), arrays_.args);
  set(this->graph().auxiliary(), arrays_.aux);
  const auto sparse = [](const NDArray& array) { return array.is_sparse(); };
  eager_only_ = eager_.has_dynamic_shapes() || crosses_ ||
                std::any_of(arrays_.args.begin(), arrays_.args.end(), sparse) ||
                std::any_of(arrays_.aux.begin(), arrays_.aux.end(), sparse) ||
                std::any_of(arrays_.grads.begin(), arrays_.grads.end(), sparse) || shares_states();
  const bool complete = infer_graph(this->graph(), &types_);
  if (!complete && !eager_.has_dynamic_shapes()) {
    throw Error(ErrorCode::kValue, "bind",
                "given arrays from which not all shapes and types follow, expected complete ones");
  }
  if (complete) check_dtypes(this->graph(), types_);
  make_stand_ins();
  make_outputs(groups);  // CPUs of several numbers are one device, and arrays still say which
  eager_only_ |= std::any_of(outputs_.begin(), outputs_.end(), sparse);
  if (config().executor.verbose_logging) log(LogLevel::kInfo, debug_str());
}

void Executor::check_arrays() const {
  const auto check = [&](std::span<const int> nodes, const std::vector<NDArray>& values,
                         const char* kind) {
    if (values.size() != nodes.size()) {
      throw Error(ErrorCode::kValue, "bind",
                  fmt::format("given {} {}, expected {}", values.size(), kind, nodes.size()));
    }
    for (std::size_t i = 0; i < nodes.size(); ++i)
      require_data(values[i], graph().node(nodes[i]).name.c_str());
  };
  check(graph().arguments(), arrays_.args, "arguments");
  check(graph().auxiliary(), arrays_.aux, "auxiliary states");
  MX_ASSERT(arrays_.grads.size() == arrays_.args.size());
  MX_ASSERT(arrays_.requests.size() == arrays_.args.size());
  for (std::size_t i = 0; i < arrays_.args.size(); ++i)
    if (arrays_.requests[i] != Request::kNull) check_gradient(i);
  // Operators would change copies of them.
  for (std::size_t i = 0; groups_.empty() && i < arrays_.aux.size(); ++i) {
    if (same_place(arrays_.aux[i].device(), device_)) continue;
    throw Error(ErrorCode::kValue, "bind",
                fmt::format("given auxiliary state '{}' on {}, expected it on {}",
                            graph().node(graph().auxiliary()[i]).name,
                            to_string(arrays_.aux[i].device()), to_string(device_)));
  }
}

void Executor::check_gradient(std::size_t argument) const {
  const NDArray &arg = arrays_.args[argument], &grad = arrays_.grads[argument];
  const bool fits = !grad.is_none() && grad.shape() == arg.shape() && grad.dtype() == arg.dtype();
  if (fits && same_place(grad.device(), arg.device())) return;
  throw Error(ErrorCode::kValue, "bind",
              fmt::format("given a gradient array of {} {}{} for '{}', expected {} {} on {}",
                          dtype_name(grad.dtype()), to_string(grad.shape()),
                          grad.is_none() ? "" : " on " + to_string(grad.device()),
                          graph().node(graph().arguments()[argument]).name, dtype_name(arg.dtype()),
                          to_string(arg.shape()), to_string(arg.device())));
}

bool Executor::has_arguments_elsewhere() const {
  return std::any_of(arrays_.args.begin(), arrays_.args.end(), [&](const NDArray& array) {
    return !array.is_none() && !same_place(array.device(), device_);
  });
}

bool Executor::shares_states() const {
  std::map<int, const NDArray*> by_node;
  for (std::size_t i = 0; i < arrays_.args.size(); ++i)
    by_node[graph().arguments()[i]] = &arrays_.args[i];
  for (std::size_t i = 0; i < arrays_.aux.size(); ++i)
    by_node[graph().auxiliary()[i]] = &arrays_.aux[i];
  std::vector<const NDArray*> arrays;  // in the order of the variables
  arrays.reserve(by_node.size());
  for (const auto& [node, array] : by_node) arrays.push_back(array);
  return WrittenVariables(eager_.graph(), graph()).shared(arrays);
}

void Executor::make_stand_ins() {
  grads_ = arrays_.grads;
  ChunkSet read(arrays_.args.size() + arrays_.aux.size());
  const auto is_read = [&](const NDArray& grad) {
    const auto same = [&](const NDArray& array) { return overlap(array, grad); };
    return read.contains(grad.chunk().get()) &&
           (std::ranges::any_of(arrays_.args, same) || std::ranges::any_of(arrays_.aux, same));
  };
  for (const auto* const list : {&arrays_.args, &arrays_.aux})
    for (const NDArray& array : *list) read.insert(array.chunk().get());
  // Steps on the way to one gradient lie where it will be, and another's would be among them.
  ChunkSet taken(grads_.size());
  const auto is_mixed = [&](std::size_t i) {
    const NDArray& grad = arrays_.grads[i];
    const auto clashes = [&](std::size_t j) {
      const bool write =
          arrays_.requests[i] == Request::kWrite || arrays_.requests[j] == Request::kWrite;
      return write && arrays_.requests[j] != Request::kNull && overlap(arrays_.grads[j], grad);
    };
    for (std::size_t j = 0; taken.contains(grad.chunk().get()) && j < i; ++j)
      if (clashes(j)) return true;
    taken.insert(grad.chunk().get());
    return false;
  };
  for (std::size_t i = 0; i < grads_.size(); ++i) {
    NDArray& grad = grads_[i];
    if (arrays_.requests[i] == Request::kNull || grad.is_sparse()) continue;
    if (!is_mixed(i) && !is_read(grad)) continue;
    grad = NDArray(grad.shape(), grad.dtype(), grad.device(), "gradients");
    stand_ins_.push_back(i);
  }
}

// A stand-in's gradient, to where it was asked for.
void Executor::hand_over(std::size_t i) {
  if (arrays_.requests[i] != Request::kAdd) return grads_[i].copy_to(arrays_.grads[i]);
  const OpDef& add = Registry::get().at("elemwise_add");
  NDArray sum = arrays_.grads[i].detach();
  const std::array<const NDArray*, 2> inputs{&sum, &grads_[i]};
  const std::array<NDArray*, 1> outputs{&sum};
  invoke(add, parse_attrs(add, {})->params(), inputs, outputs);
}

void Executor::make_outputs(const DeviceGroups& groups) {
  VariableStorage variables;
  const auto note = [&](std::span<const int> nodes, const std::vector<NDArray>& values) {
    for (std::size_t i = 0; i < nodes.size(); ++i)
      variables[&graph().node(nodes[i])] = values[i].storage_type();
  };
  note(graph().arguments(), arrays_.args);
  note(graph().auxiliary(), arrays_.aux);
  const std::vector<StorageType> storage = infer_storage(graph(), variables, device_);
  for (int entry : graph().outputs()) {
    const ArrayType& type = types_[static_cast<std::size_t>(entry)];
    const StorageType stored = storage[static_cast<std::size_t>(entry)];
    const Device device = device_of(graph().node(graph().node_of(entry)), groups, device_);
    if (!type.complete()) {
      outputs_.emplace_back();
    } else if (stored == StorageType::kDense) {
      outputs_.push_back(NDArray(type.shape, type.dtype, device, "outputs"));
    } else {
      outputs_.push_back(NDArray(stored, type.shape, type.dtype, device));
    }
  }
}

bool Executor::runs_in(const DeviceGroups& groups) const {
  return spans_devices(eager_.graph(), groups, device_) ? groups == groups_ : groups_.empty();
}

bool Executor::wants_gradients() const {
  return std::any_of(arrays_.requests.begin(), arrays_.requests.end(),
                     [](Request request) { return request != Request::kNull; });
}

bool Executor::runs_eagerly() const { return eager_only_ || monitor_ != nullptr; }

// --- plans ---------------------------------------------------------------------------------------

std::map<const ir::Node*, ArrayType> Executor::variable_types() const {
  std::map<const ir::Node*, ArrayType> types;
  for (int n : graph().variables())
    types[&graph().node(n)] = types_[static_cast<std::size_t>(graph().first_entry(n))];
  return types;
}

std::unique_ptr<BoundPlan> Executor::compile(ir::Graph graph, PlanOptions options,
                                             std::span<const ir::Entry> heads) const {
  std::map<const ir::Node*, ArrayType> known = variable_types();
  for (std::size_t o = 0; o < heads.size(); ++o)
    known[heads[o].node.get()] = types_[static_cast<std::size_t>(this->graph().outputs()[o])];
  options.replay = true;
  TypedGraph typed = typed_graph(std::move(graph), known, options);
  auto gradient = static_cast<std::size_t>(options.forward_outputs);
  for (std::size_t i = 0; i < arrays_.args.size(); ++i)
    if (arrays_.requests[i] != Request::kNull && gradient < typed.graph.outputs().size())
      check_gradient_dtype(typed, gradient++, this->graph().node(this->graph().arguments()[i]),
                           grads_[i].dtype());
  auto plan = std::make_shared<const Plan>(std::move(typed.graph), std::move(typed.types), options,
                                           std::move(typed.kernels), std::move(typed.memory));
  std::vector<NDArray> arrays = externals(*plan, heads);
  return std::make_unique<BoundPlan>(std::move(plan), std::move(arrays), pool_);
}

std::unique_ptr<BoundPlan> Executor::compile_forward(const PlanOptions& options) const {
  return compile(compiled_graph(parted_, variable_types(), options), options, {});
}

std::vector<NDArray> Executor::externals(const Plan& plan, std::span<const ir::Entry> heads) const {
  std::map<const ir::Node*, NDArray> known;
  for (std::size_t i = 0; i < arrays_.args.size(); ++i)
    known[&graph().node(graph().arguments()[i])] = arrays_.args[i].detach();
  for (std::size_t i = 0; i < arrays_.aux.size(); ++i)
    known[&graph().node(graph().auxiliary()[i])] = arrays_.aux[i].detach();
  for (std::size_t o = 0; o < heads.size(); ++o) known[heads[o].node.get()] = head_grads_[o];
  std::vector<NDArray> externals;
  externals.reserve(plan.graph().variables().size());
  for (int n : plan.graph().variables()) externals.push_back(known.at(&plan.graph().node(n)));
  externals.insert(externals.end(), outputs_.begin(), outputs_.end());
  for (std::size_t i = 0; i < arrays_.args.size(); ++i)
    if (arrays_.requests[i] != Request::kNull &&
        static_cast<int>(externals.size()) < plan.num_externals())
      externals.push_back(grads_[i].detach());
  return externals;
}

BoundPlan& Executor::inference_plan() {
  if (!inference_) {
    PlanOptions options = PlanOptions::configured(device_, false);
    options.on_caller = on_caller_;
    inference_ = compile_forward(options);
  }
  return *inference_;
}

BoundPlan& Executor::training_plan(bool training_mode) {
  std::unique_ptr<BoundPlan>& plan = training_mode ? training_ : inference_gradients_;
  if (plan) return *plan;
  PlanOptions options = PlanOptions::configured(device_, true);
  options.training = training_mode;
  const ir::Graph forward = compiled_graph(parted_, variable_types(), options);
  TrainingGraph training{.graph = forward, .head_grads = {}, .forward_outputs = INT_MAX};
  options.requests.assign(graph().outputs().size(), Request::kWrite);
  if (wants_gradients()) {
    std::vector<ir::Entry> wrt;
    const IndexedGraph& g = graph();
    std::map<const ir::Node*, Ref<ir::Node>> owners;
    for (ir::Node* node : ir::topological_order(g.graph().outputs))
      owners.emplace(node, Ref<ir::Node>(node));
    for (std::size_t i = 0; i < arrays_.args.size(); ++i) {
      if (arrays_.requests[i] == Request::kNull) continue;
      wrt.push_back({owners.at(&g.node(g.arguments()[i])), 0, 0});
      options.requests.push_back(arrays_.requests[i]);
    }
    training = training_graph(forward, wrt, variable_types());
    for (std::size_t o = head_grads_.size(); o < outputs_.size(); ++o)  // the plans share them
      head_grads_.emplace_back(outputs_[o].shape(), outputs_[o].dtype(), device_, "head gradients");
  }
  options.forward_outputs = training.forward_outputs;
  plan = compile(training.graph, options, training.head_grads);
  return *plan;
}

// --- running -------------------------------------------------------------------------------------

// Before another one begins: what is still to come of them will not.
void Executor::give_up_runs() {
  if (pool_->open_run() == nullptr) [[likely]]
    return;
  for (const auto* plan : {&training_, &inference_gradients_, &stepwise_})
    if (*plan) (*plan)->give_up();
}

void Executor::forward(bool training) {
  give_up_runs();
  recorded_.clear();
  state_ = State::kIdle;
  if (runs_eagerly()) {
    forward_eagerly(training, training && wants_gradients());
  } else {
    (training ? training_plan() : inference_plan()).forward();
    state_ = State::kPlanned;
  }
  if (!training) state_ = State::kInferred;
}

int Executor::forward_step(int step) {
  if (step < 0) {
    throw Error(ErrorCode::kValue, "partial forward",
                fmt::format("given step {}, expected 0 or more", step));
  }
  if (!stepwise_) {
    if (eager_only_) {
      throw Error(ErrorCode::kValue, "partial forward",
                  "given a graph with sparse arrays, shapes that follow from values or several "
                  "devices, expected one that can run step by step");
    }
    PlanOptions options = PlanOptions::configured(device_, false);
    options.forward_bulk = 1;
    options.optimise = options.fuse_pointwise = false;  // its steps are those of the symbol
    stepwise_ = compile_forward(options);
  }
  if (step == 0) give_up_runs();
  state_ = State::kIdle;
  const int count = static_cast<int>(stepwise_->plan().segments().size());
  if (step < count) stepwise_->forward_segment(static_cast<std::size_t>(step));
  return std::max(0, count - step - 1);
}

void Executor::backward(InputRefs head_grads, bool training) {
  if (!wants_gradients()) return;
  if (!head_grads.empty() && head_grads.size() != outputs_.size()) {
    throw Error(ErrorCode::kValue, "backward",
                fmt::format("given {} head gradients, expected one for each of {} outputs",
                            head_grads.size(), outputs_.size()));
  }
  const bool inferred = state_ == State::kInferred, used = state_ == State::kUsed;
  if (state_ == State::kIdle || (used && !runs_alike(parted_))) {
    throw Error(ErrorCode::kValue, "backward",
                used ? "given a second backward after one forward of a graph that draws numbers or "
                       "changes states, expected forward(is_train=True) before each"
                     : "given an executor without results to differentiate, expected "
                       "forward() before");
  }
  // Inference keeps nothing for gradients, and gradients overwrite what they have read: the forward
  // pass runs once more.
  const bool again = inferred || used;
  if (again && runs_eagerly()) forward_eagerly(used, true);
  for (const std::size_t i : stand_ins_) {
    if (arrays_.requests[i] != Request::kAdd) continue;
    forget_failures({&grads_[i]});
    fill_array("zeros_like", grads_[i]);
  }
  if (state_ == State::kRecorded) {
    backward_eagerly(head_grads, training && !inferred);
  } else {
    BoundPlan& plan = training_plan(!inferred);
    if (again) plan.forward();
    set_head_grads(head_grads);
    plan.backward(training);
  }
  for (const std::size_t i : stand_ins_) hand_over(i);
  state_ = inferred ? State::kInferred : State::kUsed;
}

void Executor::check_head_grad(std::size_t o, const NDArray& given, const NDArray& output) {
  require_data(given, "head gradient");
  if (given.shape() == output.shape()) return;
  throw Error(ErrorCode::kValue, "backward",
              fmt::format("given head gradient {} of shape {}, expected {} as the output", o,
                          to_string(given.shape()), to_string(output.shape())));
}

void Executor::set_head_grads(InputRefs head_grads) {
  if (head_grads.empty() && heads_are_ones_) return;
  heads_are_ones_ = false;  // nor if what fills them throws
  std::vector<const NDArray*> heads;
  heads.reserve(head_grads_.size());
  for (const NDArray& head : head_grads_) heads.push_back(&head);
  forget_failures(std::move(heads));
  if (head_grads.empty()) {
    for (const NDArray& head : head_grads_) fill_array("ones_like", head);
    heads_are_ones_ = true;
    return;
  }
  for (std::size_t o = 0; o < head_grads.size(); ++o) {
    const NDArray &given = *head_grads[o], &head = head_grads_[o];
    check_head_grad(o, given, head);
    if (given.dtype() == head.dtype()) {
      given.copy_to(head);
    } else {
      NDArray from = given.detach(), to = head.detach();
      copy_across(from, to);
    }
  }
}

// --- to be read ----------------------------------------------------------------------------------

std::string Executor::debug_str() {
  if (eager_only_) {
    std::string text = "Runs node by node:\n";
    for (const ir::Node* node : ir::topological_order(parted_.outputs))
      text += fmt::format("  {}\n", node->is_variable() ? node->name : title_of(*node));
    // Module of 1.x reads the number in the third line from the end.
    return text + "Total 0 MB allocated\nnothing is planned: arrays are made as they are needed\n";
  }
  return (wants_gradients() ? training_plan() : inference_plan()).plan().debug_str();
}

ir::Graph Executor::optimized_graph() const {
  // Parts that run as the operators that they are show before they are in their place again.
  if (eager_only_ || parted_.outputs != graph().graph().outputs) return parted_;
  return shown_for_backend(compiled_graph(parted_, variable_types(), {}), config().subgraph.backend,
                           device_.is_gpu() || wants_gradients());
}

}  // namespace mxnet
