// SPDX-License-Identifier: Apache-2.0
// The history that autograd keeps while a thread records: a graph of nodes, held by the arrays that
// came out of it. When the last such array goes, so does the branch behind it.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "exec/invoke.h"
#include "exec/save_plan.h"
#include "ir/node.h"
#include "op/inline_vector.h"
#include "op/params/parsed_attrs.h"

namespace mxnet {

// A graph is built by one thread at a time; leaves and constants may be in graphs of several
// threads. Any number of passes of backward may go through a node at once, on several threads or
// one inside another: each enters it before it reads inputs and values.
//
// Invariants:
//   1. Inputs of a node are older than it, so there are no cycles; nodes hold values without tape.
//   2. A freed node has neither inputs nor values and counts as not being on the tape.
//   3. No pass but the one that claims it goes through a node that is claimed, and none through one
//      that is freed.
class TapeNode : public ir::Node {
 public:
  enum class Kind : uint8_t {
    kLeaf,       // marked by the user, may have a gradient buffer
    kConstant,   // not differentiated; known only so that writing into it is noticed
    kOperation,  // an operator's call
    kFunction,   // a call whose gradient is a function of the user
  };
  explicit TapeNode(Kind kind) : kind_(kind) {}
  Kind kind() const { return kind_; }
  // Relaxed: who goes on to read has entered.
  bool freed() const { return passes_.load(std::memory_order_relaxed) == kFreed; }

  enum class Entered : uint8_t { kFreed, kFirst, kShared };
  // Begins to go through it. The first pass, and it alone, may use the scratch field until it
  // leaves.
  Entered enter();
  // The last to leave frees what another pass was to free.
  void leave();
  // For the pass that is to free it, before it overwrites anything: true where no other goes
  // through the node, and from now on none will. Then comes free_claimed(), or leave(), which gives
  // it back.
  bool claim();
  // Forgets values and inputs: the graph cannot be differentiated through here any more.
  void free_claimed();
  // Where claim() has failed: no pass enters any more, and the last to leave does the same.
  void free_later();

 protected:
  virtual void free();

 private:
  static constexpr int32_t kFreed = -1, kClaimed = -2;  // else the number of passes, and
  static constexpr int32_t kToFree = 1 << 30;

  std::atomic<int32_t> passes_{0};  // that go through it
  const Kind kind_;
};

class LeafNode final : public TapeNode {
 public:
  LeafNode(NDArray grad, Request request)
      : TapeNode(Kind::kLeaf), grad(std::move(grad)), request(request) {}
  const NDArray grad;
  const Request request;
  // Set by backward, on any thread whose graph has this leaf; cleared by whoever has used the
  // gradient. Relaxed everywhere: a mark on its own, the gradient itself is ordered by the engine.
  std::atomic<bool> fresh_grad{false};
};

// Sees the gradient of an input, by its position, as backward finds it.
using GradientWatcher = std::function<void(int input, const NDArray& gradient)>;

class OperationNode final : public TapeNode {
 public:
  OperationNode(ParsedAttrsRef attrs, bool training);
  // What was saved of the call, null where the plan left it out; without tape, and without values
  // where only shape and type matter.
  const NDArray* saved_input(int i) const;
  const NDArray* saved_output(int o) const;
  std::span<const NDArray> saved() const { return saved_.span(); }
  void save(SavePlanRef plan, InputRefs inputs, OutputRefs outputs);

  const ParsedAttrsRef parsed;
  const bool training;
  Device device;
  InlineVector<ArrayType, 1> output_types;
  std::unique_ptr<const GradientWatcher> watcher;  // null: nobody looks

 private:
  void free() override;
  const NDArray* saved(int32_t at) const;

  SavePlanRef plan_;
  InlineVector<NDArray, 2> saved_;  // in the order of the plan
};

// Gradients of the inputs out of those of the outputs; runs on the thread that calls backward.
// `targets`: per input, an array that may be overwritten with its gradient and then be the result;
// none where there is no such array.
using GradientFunction = std::function<std::vector<NDArray>(std::vector<NDArray> output_grads,
                                                            std::span<const NDArray> targets)>;

class FunctionNode final : public TapeNode {
 public:
  FunctionNode(GradientFunction gradient, Unasked unasked, bool sees_gaps)
      : TapeNode(Kind::kFunction),
        gradient(std::move(gradient)),
        unasked(unasked),
        sees_gaps(sees_gaps) {}
  GradientFunction gradient;
  const Unasked unasked;
  const bool sees_gaps;
  Device device;
  InlineVector<ArrayType, 1> output_types;

 private:
  void free() override;
};

// What an array knows: the output of a node that it is.
//
// Invariant: an entry that recording replaces (by a constant's) lives on in the new one, so that
// what tape_entry() returned stays valid whichever threads record with the array.
class TapeEntry final : public TapeInfo {
 public:
  TapeEntry(Ref<TapeNode> node, int32_t index, Ref<TapeInfo> before = {})
      : node(std::move(node)), index(index), before(std::move(before)) {}
  NDArray gradient() const override;
  bool fresh_gradient() const override;
  void set_fresh_gradient(bool fresh) override;

  const Ref<TapeNode> node;
  const int32_t index;
  const Ref<TapeInfo> before;
};

// The entry of an array that is part of a living graph or marked, else null.
const TapeEntry* tape_entry(const NDArray& array);
// From now on `watcher` sees what backward finds for the inputs of the call whose result `array`
// is; nothing where that call is not recorded.
void watch_gradients(const NDArray& array, GradientWatcher watcher);
// The mark of an array that attach_grad gave a buffer, else null.
LeafNode* leaf_of(const NDArray& array);
// Whether gradients may flow to the array.
bool wants_gradient(const NDArray& array);

// attach_grad: `array` becomes a leaf, whatever it was before. `grad` is none for kNull.
void mark_variable(NDArray& array, Request request, const NDArray& grad);

// What may not be written while recording: outputs that are part of a graph, and inputs whose
// values the call's own gradient needs. Throws Error(kValue): the gradients would be wrong.
void check_outputs(const ParsedAttrsRef& parsed, std::span<NDArray* const> inputs,
                   OutputRefs outputs);
// Appends the call that has just been pushed. Nothing happens if no input is on the tape.
void record(const ParsedAttrsRef& parsed, std::span<NDArray* const> inputs, OutputRefs outputs,
            bool training);
// The gradient is called with zeros for what does not arrive, and where nothing does only as
// `unasked` says: what a user's function does is not known, so that it may be a loss. One that
// `sees_gaps` gets none instead of zeros in a pass that is recorded itself.
void record_function(GradientFunction gradient, std::span<NDArray* const> inputs,
                     OutputRefs outputs, Unasked unasked = Unasked::kNothing,
                     bool sees_gaps = false);

}  // namespace mxnet
