// SPDX-License-Identifier: Apache-2.0
// Compilation of graphs.
#include "exec/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/config.h"
#include "base/error.h"
#include "base/leaked.h"
#include "base/log.h"
#include "exec/kept_results.h"
#include "exec/plan_turns.h"
#include "exec/run_kernel.h"
#include "graph/backends.h"
#include "graph/branches.h"
#include "op/create/constant.h"
#include "op/fused/pointwise.h"
#include "op/inline_vector.h"
#include "op/named_errors.h"
#include "op/params/parsed_attrs.h"
#include "op/run/gpu.h"

namespace mxnet {
namespace {

// A bit for each in Plan::Segment.
constexpr int kMostBranches = 32;

// Copies a value that is wanted in one more place.
const OpDef& copy_op() {
  static const OpDef& op = Registry::get().at("_copy");
  return op;
}
const void* copy_params() {
  static Leaked<ParamsPtr> params(copy_op().parse({}));
  return params->get();
}

Request request_of(const PlanOptions& options, int output) {
  return options.requests.empty() ? Request::kWrite
                                  : options.requests[static_cast<std::size_t>(output)];
}

}  // namespace

PlanOptions PlanOptions::configured(Device device, bool training) {
  const Config& c = config();
  PlanOptions options;
  options.device = device;
  options.training = training;
  options.packing = {c.memory_plan.match_range, c.memory_plan.auto_search_match_range};
  options.inplace = c.memory_plan.enable_inplace;
  // Recorded graphs of a device are one stream of work.
  if (!device.is_gpu()) {
    options.branches = std::min<int>(c.memory_plan.nnvm_num_temp, kMostBranches);
    options.workspaces = c.memory_plan.num_temp;
  }
  // The simulated device has kernels for operators one by one.
  const bool fuses = !device.is_gpu() || gpu_kernel(Registry::get().at(PointwiseChain::kName));
  options.fuse_pointwise = fuses && c.cuda.use_fusion;
  const auto bulk = [](bool on, int most) { return on ? most : 1; };
  if (training) {
    const bool on = c.executor.bulk_exec_train;
    options.forward_bulk = bulk(on, std::max<int>(1, c.executor.bulk_exec_max_node_train_fwd));
    options.backward_bulk = bulk(on, std::max<int>(1, c.executor.bulk_exec_max_node_train_bwd));
  } else {
    options.forward_bulk = bulk(c.executor.bulk_exec_inference, 0);
  }
  const std::string& name = c.subgraph.backend;
  options.optimise = !device.is_gpu() && c.onednn.enabled && is_onednn_backend(name);
  // Parts of a registered one run as the operators that they are; an unknown one is an error.
  if (name != "NONE") backend(name);
  return options;
}

Schedule plan_schedule(const IndexedGraph& graph, const PlanOptions& options) {
  Schedule schedule = schedule_nodes(graph, options.forward_outputs,
                                     options.branches > 1 ? Pace::kAbreast : Pace::kInTurn);
  // What seldom runs comes first, so that the rest is one graph of the device.
  if (const std::vector<bool> kept = kept_nodes(graph, options); !kept.empty())
    std::ranges::stable_partition(schedule.nodes,
                                  [&](int n) { return kept[static_cast<std::size_t>(n)]; });
  return schedule;
}

GraphMemory plan_graph_memory(const IndexedGraph& graph, const std::vector<ArrayType>& types,
                              const Schedule& schedule, const PlanOptions& options,
                              const PreparedKernels& kernels, const std::vector<Turns>& turns) {
  GraphMemoryOptions memory;
  memory.turns = turns;
  const bool differentiates = options.forward_outputs < static_cast<int>(graph.outputs().size());
  if (!kernels.empty()) {
    memory.layout_bytes.resize(types.size());
    memory.joins.resize(static_cast<std::size_t>(graph.num_nodes()));
    for (int n = 0; n < graph.num_nodes(); ++n) {
      const PreparedKernelRef& kernel = kernels[static_cast<std::size_t>(n)];
      for (int o = 0; kernel && o < graph.num_outputs(n); ++o) {
        const int entry = graph.first_entry(n) + o;
        if (const LayoutRef& layout = kernel->out()[static_cast<std::size_t>(o)])
          memory.layout_bytes[static_cast<std::size_t>(entry)] = layout->bytes();
      }
      // With a backward part the parts would keep the whole alive, and the whole the parts.
      memory.joins[static_cast<std::size_t>(n)] = !differentiates && kernel && kernel->is_join();
    }
  }
  // Kernels of turns know of their parts only.
  for (const Turns& t : turns)
    for (int s = t.first; s <= t.last; ++s) {
      const int n = schedule.nodes[static_cast<std::size_t>(s)];
      const int end = graph.first_entry(n) + graph.num_outputs(n);
      for (int entry = graph.first_entry(n); entry < end; ++entry)
        memory.layout_bytes[static_cast<std::size_t>(entry)] *= static_cast<std::size_t>(t.parts);
    }
  memory.packing = options.packing;
  memory.inplace = options.inplace;
  memory.kept = kept_nodes(graph, options);
  if (options.branches > 1) {
    memory.colors = color_branches(graph, types, options.branches);
    memory.joins.clear();  // the parts may be of several colours, which share no memory
  }
  memory.backward_output = options.forward_outputs;
  memory.backward_step = schedule.num_forward;
  for (int o = 0; o < static_cast<int>(graph.outputs().size()); ++o) {
    const Request request = request_of(options, o);
    memory.direct_outputs.push_back(request == Request::kWrite || request == Request::kInplace);
  }
  return plan_memory(graph, types, schedule.nodes, memory);
}

Plan::Plan(IndexedGraph graph, std::vector<ArrayType> types, const PlanOptions& options,
           PreparedKernels kernels, std::optional<GraphMemory> memory)
    : graph_(std::move(graph)),
      types_(std::move(types)),
      options_(options),
      kernels_(std::move(kernels)) {
  MX_ASSERT(kernels_.empty() || static_cast<int>(kernels_.size()) == graph_.num_nodes());
  for (const ArrayType& type : types_) MX_ASSERT(type.complete());
  MX_ASSERT(options_.requests.empty() ||
            static_cast<int>(options_.requests.size()) == num_outputs());
  const Schedule schedule = plan_schedule(graph_, options_);
  turns_ = choose_turns(graph_, types_, schedule, options_, &kernels_);
  memory_ = memory && turns_.empty()
                ? *std::move(memory)
                : plan_graph_memory(graph_, types_, schedule, options_, kernels_, turns_);
  variable_index_.resize(static_cast<std::size_t>(graph_.num_nodes()), -1);
  for (std::size_t v = 0; v < graph_.variables().size(); ++v)
    variable_index_[static_cast<std::size_t>(graph_.variables()[v])] = static_cast<int>(v);
  find_reads();
  add_steps(schedule);
  add_segments(0, num_forward_steps_, options_.forward_bulk);
  num_forward_segments_ = static_cast<int>(segments_.size());
  add_segments(num_forward_steps_, static_cast<int>(steps_.size()), options_.backward_bulk);
  forget_unasked_kernels();
  if (config().memory_plan.verbose_logging) log(LogLevel::kInfo, memory_str());
}

const ArrayType& Plan::external_type(int external) const {
  const int v = num_variables();
  const int entry = external < v
                        ? graph_.first_entry(graph_.variables()[static_cast<std::size_t>(external)])
                        : graph_.outputs()[static_cast<std::size_t>(external - v)];
  return types_[static_cast<std::size_t>(entry)];
}

// --- steps ---------------------------------------------------------------------------------------

void Plan::find_reads() {
  read_.resize(types_.size());
  for (int n = 0; n < graph_.num_nodes(); ++n) {
    const std::span<const int> inputs = graph_.inputs(n);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (!graph_.node(n).op->type_only(static_cast<int>(i)))
        read_[static_cast<std::size_t>(inputs[i])] = true;
  }
  for (int o = 0; o < num_outputs(); ++o)
    if (request_of(options_, o) != Request::kNull)
      read_[static_cast<std::size_t>(graph_.outputs()[static_cast<std::size_t>(o)])] = true;
}

void Plan::add_steps(const Schedule& schedule) {
  auto delivery = memory_.deliveries.begin();
  const auto deliver_before = [&](int step, int last_output) {
    while (delivery != memory_.deliveries.end() && delivery->step <= step &&
           delivery->output < last_output)
      add_delivery(*delivery++);
  };
  auto turns = turns_.begin();
  int first_of_turns = 0;
  for (int s = 0; s < static_cast<int>(schedule.nodes.size()); ++s) {
    if (s == schedule.num_forward) {
      deliver_before(s, options_.forward_outputs);
      num_forward_steps_ = static_cast<int>(steps_.size());
    }
    deliver_before(s, INT_MAX);
    if (turns != turns_.end() && s == turns->first)
      first_of_turns = static_cast<int>(steps_.size());
    add_node(schedule.nodes[static_cast<std::size_t>(s)]);
    if (turns != turns_.end() && s == turns->last) add_turned(*turns++, first_of_turns);
  }
  const int end = static_cast<int>(schedule.nodes.size());
  if (schedule.num_forward == end) {
    deliver_before(end, options_.forward_outputs);
    num_forward_steps_ = static_cast<int>(steps_.size());
  }
  deliver_before(end, INT_MAX);
}

void Plan::add_tensor(int entry, bool value) {
  TensorPlace tensor{&types_[static_cast<std::size_t>(entry)]};
  const Place& place = memory_.places[static_cast<std::size_t>(entry)];
  if (value) {
    switch (place.kind) {
      case Place::Kind::kVariable:
        tensor.external = variable_index_[static_cast<std::size_t>(place.index)];
        break;
      case Place::Kind::kOutput:
        tensor.external = num_variables() + place.index;
        break;
      case Place::Kind::kConstant:
        tensor.constant = &constant_value(graph_.node(place.index));
        break;
      case Place::Kind::kArena:
        tensor.arena = place.index;
        tensor.offset = place.offset;
        break;
      case Place::Kind::kKept:
        tensor.kept = place.index;
        break;
      case Place::Kind::kUnused:
        break;
    }
  }
  tensors_.push_back(tensor);
}

void Plan::add_node(int n) {
  const ir::Node& node = graph_.node(n);
  const std::span<const int> inputs = graph_.inputs(n);
  const auto first_entry = static_cast<std::size_t>(graph_.first_entry(n));
  const bool is_kept =
      graph_.num_outputs(n) > 0 && memory_.places[first_entry].kind == Place::Kind::kKept;
  Step step{.kernel = nullptr,
            .prepared = kernels_.empty() ? nullptr : kernels_[static_cast<std::size_t>(n)].get(),
            .op = node.op,
            .title = operator_title(*node.op, node.params.get()),
            .params = node.params.get(),
            .node = n,
            .first_tensor = static_cast<uint32_t>(tensors_.size()),
            .num_in = static_cast<uint32_t>(inputs.size()),
            .num_out = static_cast<uint32_t>(graph_.num_outputs(n)),
            .accumulate = false,
            .by_pass = node.op->goes_by_pass(),
            .kept = is_kept,
            .workspace = workspace_of(n)};
  InlineVector<ArrayType, 8> types;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    add_tensor(inputs[i], !node.op->type_only(static_cast<int>(i)));
    types.push_back(types_[static_cast<std::size_t>(inputs[i])]);
  }
  for (int o = 0; o < graph_.num_outputs(n); ++o) {
    const int entry = graph_.first_entry(n) + o;
    add_tensor(entry, true);
    types.push_back(types_[static_cast<std::size_t>(entry)]);
  }
  const std::span<const ArrayType> all = types.span();
  if (step.prepared != nullptr) {
    steps_.push_back(step);
    return;
  }
  try {
    step.kernel = &choose_kernel(*node.op, step.params, all.first(inputs.size()),
                                 all.subspan(inputs.size()), options_.device, options_.training);
  } catch (...) {
    rethrow_told_by(*node.op, step_name(step));
  }
  steps_.push_back(step);
}

void Plan::add_turned(const Turns& turns, int first_step) {
  TurnedSteps turned{first_step, static_cast<int>(steps_.size()), turns.parts, {}};
  const auto bytes_of = [](const ArrayType& type) {
    return static_cast<std::size_t>(type.shape.size()) * dtype_size(type.dtype);
  };
  for (int s = first_step; s < turned.last_step; ++s) {
    const Step& step = steps_[static_cast<std::size_t>(s)];
    for (uint32_t i = 0; i < step.num_in + step.num_out; ++i) {
      const bool in = i < step.num_in;
      if (in && static_cast<int>(i) >= sample_inputs_of(*step.op)) continue;
      TensorPlace& tensor = tensors_[step.first_tensor + i];
      tensor.type = &parts_.emplace_back(part_of(*tensor.type, turns.parts));
      const int entry = in ? graph_.inputs(step.node)[i]
                           : graph_.first_entry(step.node) + static_cast<int>(i - step.num_in);
      if (memory_.places[static_cast<std::size_t>(entry)].part) continue;
      const LayoutRef& layout = in ? step.prepared->in()[i] : step.prepared->out()[i - step.num_in];
      turned.moving.push_back(
          {step.first_tensor + i, layout ? layout->bytes() : bytes_of(*tensor.type)});
    }
  }
  turned_.push_back(std::move(turned));
}

void Plan::add_delivery(const Delivery& delivery) {
  const Request request = request_of(options_, delivery.output);
  if (request == Request::kNull) return;
  const int entry = graph_.outputs()[static_cast<std::size_t>(delivery.output)];
  const ArrayType& type = types_[static_cast<std::size_t>(entry)];
  steps_.push_back({.kernel = &choose_kernel(copy_op(), copy_params(), {&type, 1}, {&type, 1},
                                             options_.device, options_.training),
                    .prepared = nullptr,
                    .op = &copy_op(),
                    .title = copy_op().name().c_str(),
                    .params = copy_params(),
                    .node = graph_.node_of(entry),
                    .first_tensor = static_cast<uint32_t>(tensors_.size()),
                    .num_in = 1,
                    .num_out = 1,
                    .accumulate = request == Request::kAdd,
                    .by_pass = false,
                    .kept = false,
                    .workspace = workspace_of(graph_.node_of(entry))});
  add_tensor(entry, true);
  TensorPlace target{&type};
  target.external = num_variables() + delivery.output;
  tensors_.push_back(target);
}

std::string Plan::step_name(const Step& step) const {
  const ir::Node& node = graph_.node(step.node);
  return fmt::format("{}({})", node.name, step.title);
}

// Two branches may have one workspace: then they take turns on the first one's variable.
uint8_t Plan::workspace_of(int n) const {
  const int color = memory_.colors.empty() ? 0 : memory_.colors[static_cast<std::size_t>(n)];
  return static_cast<uint8_t>(color % num_workspaces());
}

bool Plan::overwrites(int output) const {
  const Request request = request_of(options_, output);
  return request == Request::kWrite || request == Request::kInplace;
}

}  // namespace mxnet
