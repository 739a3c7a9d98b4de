// SPDX-License-Identifier: Apache-2.0
// Nodes of the tape, marks, and the recording of calls.
#include "exec/tape.h"

#include <fmt/format.h>

#include <type_traits>

#include "base/error.h"
#include "base/fork_order.h"
#include "base/leaked.h"
#include "base/lock.h"
#include "exec/call_errors.h"

namespace mxnet {
namespace {

// Threads may record with one array that nobody has recorded with before, and each would make it a
// constant: the only thing that a call writes into its inputs. Held while one is made; histories
// are looked at without it.
Mutex& histories() {
  static Leaked<Mutex> mutex;
  return *mutex;
}

[[gnu::constructor(kForkOrderArrays)]] void register_handlers() { hold_over_forks<histories>(); }

// The word of a handle that says where its history is: that of a reference, as which it is standard
// layout. Nobody but constant_for() replaces it while other threads record with the handle.
std::atomic_ref<TapeInfo*> history(const NDArray& array) {
  static_assert(std::is_standard_layout_v<Ref<TapeInfo>> &&
                sizeof(Ref<TapeInfo>) == sizeof(TapeInfo*));
  auto* ref = const_cast<Ref<TapeInfo>*>(&array.tape());
  return std::atomic_ref(*reinterpret_cast<TapeInfo**>(ref));
}

// Acquire: the entry was written before the release that shows it.
const TapeEntry* entry_of(const NDArray& array) {
  return static_cast<const TapeEntry*>(history(array).load(std::memory_order_acquire));
}

// The entry, where it is of a living graph or marked, else null.
const TapeEntry* living(const TapeEntry* entry) {
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

struct Recorded {
  bool any;  // whether an input is on the tape
  uint64_t
      wanted;  // a bit for each input to which gradients may flow; the last stands for the rest
};
Recorded recorded(std::span<NDArray* const> inputs) {
  Recorded found{false, 0};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TapeEntry* entry = living(entry_of(*inputs[i]));
    if (entry == nullptr) continue;
    found.any = true;
    if (differentiable(*entry->node)) found.wanted |= uint64_t{1} << std::min<std::size_t>(i, 63);
  }
  return found;
}

// Whether it can be the input of a node: a constant may, in use or not.
bool fits(const TapeEntry* entry) {
  return living(entry) != nullptr ||
         (entry != nullptr && entry->node->kind() == TapeNode::Kind::kConstant);
}

// Makes the array a constant, unless another thread has done so in the meantime.
[[gnu::noinline]] const TapeEntry* constant_for(NDArray& array) {
  const MutexLock lock(histories());
  if (const TapeEntry* entry = entry_of(array); fits(entry)) return entry;
  Ref<TapeNode> node(new TapeNode(TapeNode::Kind::kConstant));
  Ref<TapeInfo> made(new TapeEntry(std::move(node), 0, array.tape()));
  const auto* entry = static_cast<const TapeEntry*>(made.get());
  // The handle's reference to what was there goes; the one in the new entry stays.
  history(array).store(made.release(), std::memory_order_release);
  if (entry->before) entry->before->drop_ref();
  return entry;
}

// What the next node has as its input: a constant, where the array is not on the tape.
const TapeEntry& entry_of_input(NDArray& array) {
  const TapeEntry* entry = entry_of(array);
  return fits(entry) ? *entry : *constant_for(array);
}

// Ties the node between its inputs and outputs.
template <class Node>
void connect(const Ref<Node>& node, std::span<NDArray* const> inputs, OutputRefs outputs) {
  node->inputs.reserve(inputs.size());
  for (NDArray* input : inputs) {
    const TapeEntry& entry = entry_of_input(*input);
    node->inputs.push_back({Ref<ir::Node>(entry.node.get()), entry.index, 0});
  }
  if (!outputs.empty()) node->device = outputs[0]->device();
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    NDArray& output = *outputs[o];
    node->output_types.emplace_back(output.shape(), output.dtype());
    output.set_tape(Ref<TapeInfo>(new TapeEntry(node, static_cast<int32_t>(o))));
  }
}

}  // namespace

TapeNode::Entered TapeNode::enter() {
  int32_t others = passes_.load(std::memory_order_relaxed);
  do {
    if (others < 0 || others >= kToFree) return Entered::kFreed;
    // Acquire: of the pass that had the scratch field before, all is done.
  } while (!passes_.compare_exchange_weak(others, others + 1, std::memory_order_acquire,
                                          std::memory_order_relaxed));
  return others == 0 ? Entered::kFirst : Entered::kShared;
}

void TapeNode::leave() {
  // Nobody else changes what this pass has claimed. Release: for the next to enter.
  if (passes_.load(std::memory_order_relaxed) == kClaimed)
    return passes_.store(0, std::memory_order_release);
  // Release: it has read. Acquire, of the last: so have those who have left before.
  if (passes_.fetch_sub(1, std::memory_order_acq_rel) == (kToFree | 1)) free_claimed();
}

bool TapeNode::claim() {
  int32_t alone = 1;  // or the last that another was to free
  // Acquire: those who have left have read.
  while (!passes_.compare_exchange_weak(alone, kClaimed, std::memory_order_acquire,
                                        std::memory_order_relaxed))
    if ((alone & ~kToFree) != 1) return false;
  return true;
}

// Relaxed, here and below: see freed(), and leave().
void TapeNode::free_claimed() {
  passes_.store(kFreed, std::memory_order_relaxed);
  free();
}

void TapeNode::free_later() { passes_.fetch_or(kToFree, std::memory_order_relaxed); }

void TapeNode::free() { inputs.clear(); }

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

const NDArray* OperationNode::saved(int32_t at) const {
  return at < 0 ? nullptr : &saved_[static_cast<std::size_t>(at)];
}

const NDArray* OperationNode::saved_input(int i) const {
  return saved(plan_->inputs[static_cast<std::size_t>(i)]);
}

const NDArray* OperationNode::saved_output(int o) const {
  return saved(plan_->outputs[static_cast<std::size_t>(o)]);
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

const TapeEntry* tape_entry(const NDArray& array) { return living(entry_of(array)); }

void watch_gradients(const NDArray& array, GradientWatcher watcher) {
  const TapeEntry* entry = tape_entry(array);
  if (entry == nullptr || entry->node->kind() != TapeNode::Kind::kOperation) return;
  static_cast<OperationNode&>(*entry->node).watcher =
      std::make_unique<const GradientWatcher>(std::move(watcher));
}

LeafNode* leaf_of(const NDArray& array) {
  const TapeEntry* entry = tape_entry(array);
  if (entry == nullptr || entry->node->kind() != TapeNode::Kind::kLeaf) return nullptr;
  return static_cast<LeafNode*>(entry->node.get());
}

bool wants_gradient(const NDArray& array) {
  const TapeEntry* entry = tape_entry(array);
  return entry != nullptr && differentiable(*entry->node);
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
      const uint64_t wants = recorded(inputs).wanted;
      if (wants == 0) continue;
      // The rule of the gradient counts on them, and the call itself is yet to check.
      check_num_inputs(parsed->op(), parsed->params().get(), inputs.size());
      const SavePlanRef plan = save_plan(parsed, static_cast<int>(inputs.size()),
                                         static_cast<int>(outputs.size()), wants);
      const int32_t at = plan->inputs[i];
      if (at == SavePlan::kNotSaved || !plan->needs_value[static_cast<std::size_t>(at)]) continue;
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
  const Recorded on_tape = recorded(inputs);
  if (!on_tape.any) return;
  auto node = make_ref<OperationNode>(parsed, training);
  node->save(save_plan(parsed, static_cast<int>(inputs.size()), static_cast<int>(outputs.size()),
                       on_tape.wanted),
             InputRefs(inputs), outputs);
  connect(node, inputs, outputs);
}

void record_function(GradientFunction gradient, std::span<NDArray* const> inputs,
                     OutputRefs outputs, Unasked unasked, bool sees_gaps) {
  if (!recorded(inputs).any) return;
  auto node = make_ref<FunctionNode>(std::move(gradient), unasked, sees_gaps);
  connect(node, inputs, outputs);
}

}  // namespace mxnet
