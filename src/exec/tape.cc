// SPDX-License-Identifier: Apache-2.0
// Nodes of the tape, marks, and the recording of calls.
#include "exec/tape.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/lock.h"

namespace mxnet {
namespace {

// Threads may record with one array that nobody has recorded with before, and each makes it a
// constant: the only thing that a call writes into its inputs.
Mutex& constants() {
  static Mutex mutex;
  return mutex;
}

const TapeEntry* entry_of(const NDArray& array) {
  const MutexLock lock(constants());
  return static_cast<const TapeEntry*>(array.tape().get());
}

bool is_constant(const TapeInfo* tape) {
  return tape != nullptr &&
         static_cast<const TapeEntry*>(tape)->node->kind() == TapeNode::Kind::kConstant;
}

void make_constant(NDArray& array) {
  Ref<TapeNode> node(new TapeNode(TapeNode::Kind::kConstant));
  Ref<TapeInfo> constant(new TapeEntry(std::move(node), 0));
  Ref<TapeInfo> before;  // ends after the lock: what it holds may be a program's function
  const MutexLock lock(constants());
  if (is_constant(array.tape().get())) return;
  before = array.tape();
  array.set_tape(std::move(constant));
}

// Whether gradients may flow to the node.
bool differentiable(const TapeNode& node) {
  switch (node.kind()) {
    case TapeNode::Kind::kLeaf:
      return static_cast<const LeafNode&>(node).request != Request::kNull;
    case TapeNode::Kind::kConstant:
      return false;
    default:
      return !node.freed();
  }
}

uint64_t wanted_inputs(std::span<NDArray* const> inputs) {
  uint64_t wants = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TapeEntry* entry = tape_entry(*inputs[i]);
    if (entry != nullptr && differentiable(*entry->node))
      wants |= uint64_t{1} << std::min<std::size_t>(i, 63);
  }
  return wants;
}

// Ties the node between its inputs and outputs.
void connect(const Ref<TapeNode>& node, std::span<NDArray* const> inputs, OutputRefs outputs) {
  node->inputs.reserve(inputs.size());
  for (NDArray* input : inputs) {
    if (tape_entry(*input) == nullptr && !is_constant(entry_of(*input))) make_constant(*input);
    const TapeEntry* entry = entry_of(*input);
    node->inputs.push_back({Ref<ir::Node>(entry->node.get()), entry->index, 0});
  }
  for (std::size_t o = 0; o < outputs.size(); ++o)
    outputs[o]->set_tape(Ref<TapeInfo>(new TapeEntry(node, static_cast<int32_t>(o))));
}

std::vector<ArrayType> types_of(OutputRefs outputs) {
  std::vector<ArrayType> types;
  types.reserve(outputs.size());
  for (const NDArray* array : outputs) types.push_back({array->shape(), array->dtype()});
  return types;
}

}  // namespace

void TapeNode::free() {
  freed_ = true;
  inputs.clear();
}

OperationNode::OperationNode(ParsedAttrsRef attrs, bool training)
    : TapeNode(Kind::kOperation), parsed(std::move(attrs)), training(training) {
  op = &parsed->op();
  params = parsed->params();
}

void OperationNode::free() {
  TapeNode::free();
  saved_.clear();
}

void OperationNode::save(SavePlanRef plan, InputRefs inputs, OutputRefs outputs) {
  plan_ = std::move(plan);
  saved_.resize(plan_->needs_value.size());
  const auto put = [&](int32_t position, const NDArray& array) {
    if (position == SavePlan::kNotSaved) return;
    const auto at = static_cast<std::size_t>(position);
    saved_[at] = plan_->needs_value[at] ? array.detach()
                                        : NDArray(array.shape(), array.dtype(), array.device());
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) put(plan_->inputs[i], *inputs[i]);
  for (std::size_t o = 0; o < outputs.size(); ++o) put(plan_->outputs[o], *outputs[o]);
}

NDArray OperationNode::saved_input(int i) const {
  const int32_t at = plan_->inputs[static_cast<std::size_t>(i)];
  return at < 0 ? NDArray() : saved_[static_cast<std::size_t>(at)];
}

NDArray OperationNode::saved_output(int o) const {
  const int32_t at = plan_->outputs[static_cast<std::size_t>(o)];
  return at < 0 ? NDArray() : saved_[static_cast<std::size_t>(at)];
}

void FunctionNode::free() {
  TapeNode::free();
  gradient = nullptr;
}

NDArray TapeEntry::gradient() const {
  return node->kind() == TapeNode::Kind::kLeaf ? static_cast<const LeafNode&>(*node).grad
                                               : NDArray();
}

bool TapeEntry::fresh_gradient() const {
  return node->kind() == TapeNode::Kind::kLeaf &&
         static_cast<const LeafNode&>(*node).fresh_grad.load(std::memory_order_relaxed);
}

void TapeEntry::set_fresh_gradient(bool fresh) {
  if (node->kind() == TapeNode::Kind::kLeaf)
    static_cast<LeafNode&>(*node).fresh_grad.store(fresh, std::memory_order_relaxed);
}

const TapeEntry* tape_entry(const NDArray& array) {
  const TapeEntry* entry = entry_of(array);
  if (entry == nullptr) return nullptr;
  switch (entry->node->kind()) {
    case TapeNode::Kind::kLeaf:
      return entry;
    case TapeNode::Kind::kConstant:
      // Once no graph refers to a constant, it is an array like any other.
      return entry->node->unique() ? nullptr : entry;
    default:
      return entry->node->freed() ? nullptr : entry;
  }
}

void watch_gradients(const NDArray& array, GradientWatcher watcher) {
  const TapeEntry* entry = tape_entry(array);
  if (entry == nullptr || entry->node->kind() != TapeNode::Kind::kOperation) return;
  static_cast<OperationNode&>(*entry->node).watcher =
      std::make_unique<const GradientWatcher>(std::move(watcher));
}

LeafNode* leaf_of(const NDArray& array) {
  const TapeEntry* entry = entry_of(array);
  if (entry == nullptr || entry->node->kind() != TapeNode::Kind::kLeaf) return nullptr;
  return static_cast<LeafNode*>(entry->node.get());
}

bool wants_gradient(const NDArray& array) {
  const TapeEntry* entry = tape_entry(array);
  if (entry == nullptr || entry->node->kind() == TapeNode::Kind::kConstant) return false;
  const LeafNode* leaf = leaf_of(array);
  return leaf == nullptr || leaf->request != Request::kNull;
}

void mark_variable(NDArray& array, Request request, const NDArray& grad) {
  if (request != Request::kNull &&
      (grad.is_none() || grad.shape() != array.shape() || grad.dtype() != array.dtype())) {
    throw Error(ErrorCode::kValue, "attach_grad",
                fmt::format("given a gradient buffer of {} {}, expected {} {} as the array",
                            dtype_name(grad.dtype()), to_string(grad.shape()),
                            dtype_name(array.dtype()), to_string(array.shape())));
  }
  Ref<TapeNode> leaf(new LeafNode(grad.detach(), request));
  array.set_tape(Ref<TapeInfo>(new TapeEntry(std::move(leaf), 0)));
}

void check_outputs(const ParsedAttrsRef& parsed, std::span<NDArray* const> inputs,
                   OutputRefs outputs) {
  for (const NDArray* output : outputs) {
    if (output->is_none()) continue;
    if (tape_entry(*output) != nullptr) {
      throw Error(ErrorCode::kValue, parsed->op().name(),
                  fmt::format("given an output array of shape {} that is already part of a "
                              "recorded graph, expected another one: writing into it (+=, x[:] = "
                              "y, out=x) while recording would make gradients wrong",
                              to_string(output->shape())));
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i]->is_none() || inputs[i]->chunk() != output->chunk()) continue;
      const uint64_t wants = wanted_inputs(inputs);
      const SavePlanRef plan = save_plan(parsed, static_cast<int>(inputs.size()),
                                         static_cast<int>(outputs.size()), wants);
      const int32_t at = plan->inputs[i];
      if (wants == 0 || at == SavePlan::kNotSaved ||
          !plan->needs_value[static_cast<std::size_t>(at)])
        continue;
      throw Error(
          ErrorCode::kValue, parsed->op().name(),
          fmt::format("given '{}' as an output too, expected another array: its values are "
                      "needed for the gradient",
                      parsed->op().input_name(parsed->params().get(), static_cast<int>(i))));
    }
  }
}

void record(const ParsedAttrsRef& parsed, std::span<NDArray* const> inputs, OutputRefs outputs,
            bool training) {
  bool any = false;
  for (const NDArray* input : inputs) any |= tape_entry(*input) != nullptr;
  if (!any) return;
  auto node = make_ref<OperationNode>(parsed, training);
  node->save(save_plan(parsed, static_cast<int>(inputs.size()), static_cast<int>(outputs.size()),
                       wanted_inputs(inputs)),
             InputRefs(inputs), outputs);
  node->device = outputs.empty() ? Device() : outputs[0]->device();
  node->output_types = types_of(outputs);
  connect(Ref<TapeNode>(node.get()), inputs, outputs);
}

void record_function(GradientFunction gradient, std::span<NDArray* const> inputs,
                     OutputRefs outputs) {
  bool any = false;
  for (const NDArray* input : inputs) any |= tape_entry(*input) != nullptr;
  if (!any) return;
  auto node = make_ref<FunctionNode>(std::move(gradient));
  node->device = outputs.empty() ? Device() : outputs[0]->device();
  node->output_types = types_of(outputs);
  connect(Ref<TapeNode>(node.get()), inputs, outputs);
}

}  // namespace mxnet
