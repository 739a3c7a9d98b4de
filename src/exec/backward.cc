// SPDX-License-Identifier: Apache-2.0
// The backward pass: orders the graph, then passes gradients from users to inputs, node by node.
#include "exec/backward.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <iterator>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "exec/autograd_state.h"
#include "exec/chunk_set.h"
#include "exec/grad_sum.h"
#include "exec/imperative.h"
#include "exec/shared_arrays.h"
#include "op/inline_vector.h"

namespace mxnet {
namespace {

// One pass over one graph; an object lives for one call.
//
// Invariants:
//   1. order_ holds inputs before users; a node's position is its scratch field until the end.
//   2. A node is visited after all its users, so that the gradients of its outputs are complete.
class Backward {
 public:
  explicit Backward(const BackwardOptions& options) : options_(options) {}
  ~Backward() {
    for (const Visit& visit : order_) visit.node->scratch = -1;
  }
  Backward(const Backward&) = delete;
  Backward& operator=(const Backward&) = delete;

  void run(InputRefs heads, InputRefs head_grads) {
    collect(heads, {});
    decide_targets(head_grads);
    pass(heads, head_grads);
    const AutogradScope scope({.recording = false, .training = options_.training});
    for (LeafState& leaf : leaves_) {
      if (!leaf.needed) continue;
      if (!leaf.sum.empty()) leaf.buffer.accept({.array = leaf.sum.take()});
      leaf.buffer.finish();
      leaf.node->fresh_grad.store(true, std::memory_order_relaxed);
    }
  }

  std::vector<NDArray> run(InputRefs heads, InputRefs head_grads, InputRefs variables) {
    collect(heads, variables);
    pass(heads, head_grads);
    std::vector<NDArray> grads;
    for (const NDArray* variable : variables) {
      const auto found = leaf_index_.find(leaf_of(*variable));
      if (found == leaf_index_.end()) {
        grads.emplace_back();
        continue;
      }
      NDArray grad = leaves_[found->second].sum.sum();
      if (grad.is_none()) grad = like("zeros_like", *variable);
      if (options_.create_graph) keep_on_tape(*variable, grad);
      grads.push_back(std::move(grad));
    }
    return grads;
  }

 private:
  struct Visit {
    Ref<TapeNode> node;
    bool needed = false;  // a wanted leaf is behind it
    std::size_t first_sum = 0, first_leaf = 0;
  };
  struct LeafState {
    explicit LeafState(LeafNode* leaf) : node(leaf), buffer(leaf->grad, leaf->request) {}
    const Ref<LeafNode> node;
    bool needed = false;
    LeafBuffer buffer;
    GradSum sum;  // where the buffer cannot be used directly
  };

  // A new array made from shape and type of another.
  static NDArray like(std::string_view op, const NDArray& array) {
    NDArray input = array;
    const std::array<NDArray*, 1> inputs{&input};
    return call_op(op, inputs)[0];
  }

  // A gradient that does not depend on its variable (of a linear function) can still be
  // differentiated: the result is zero, not an error. What else it depends on, as a given head
  // gradient may, gets its own.
  static void keep_on_tape(const NDArray& variable, NDArray& grad) {
    if (const TapeEntry* entry = tape_entry(grad);
        entry != nullptr && entry->node->kind() == TapeNode::Kind::kOperation)
      return;
    NDArray input = variable, given = grad;
    const std::array<NDArray*, 2> inputs{&input, &given};
    const std::array<NDArray*, 1> outputs{&grad};
    record_function(
        [](std::vector<NDArray> douts, std::span<const NDArray>) {
          return std::vector<NDArray>{NDArray(), std::move(douts[0])};
        },
        inputs, outputs);
  }

  // --- the graph -------------------------------------------------------------------------------

  // Lists all nodes behind the heads and marks those through which wanted leaves are reached.
  void collect(InputRefs heads, InputRefs variables) {
    for (std::size_t i = 0; i < heads.size(); ++i) {
      const TapeEntry* entry = tape_entry(*heads[i]);
      if (entry != nullptr && entry->node->kind() != TapeNode::Kind::kConstant) {
        visit_behind(entry->node.get());
        continue;
      }
      throw Error(ErrorCode::kValue, "backward",
                  fmt::format("given array {} that is not in a computational graph, expected the "
                              "result of operations recorded with autograd.record(); to "
                              "differentiate one graph twice, pass retain_graph=True to the first "
                              "backward",
                              i));
    }
    const bool any = variables.empty() ? want_marked() : want(variables);
    if (!any) {
      throw Error(ErrorCode::kValue, "backward",
                  "given a graph without inputs that require gradients, expected at least one: "
                  "attach_grad() with grad_req 'write' or 'add' marks them");
    }
    std::size_t sums = 0;
    for (Visit& visit : order_) {
      visit.first_sum = sums;
      visit.first_leaf = input_leaves_.size();
      sums += outputs_of(*visit.node);
      for (const ir::Entry& input : visit.node->inputs) {
        const TapeNode& node = node_of(input);
        LeafState* const leaf = leaf_state(node);
        input_leaves_.push_back(leaf);
        visit.needed |= needed(node, leaf);
      }
    }
    sums_.resize(sums);
  }

  // Depth first without recursion: graphs may be 10^6 nodes deep.
  void visit_behind(TapeNode* root) {
    constexpr int32_t kOpen = -2;
    std::vector<std::pair<TapeNode*, std::size_t>> stack;
    const auto open = [&](TapeNode* node) {
      if (node->kind() == TapeNode::Kind::kConstant) return;
      if (node->kind() == TapeNode::Kind::kLeaf) {
        auto* leaf = static_cast<LeafNode*>(node);
        if (leaf_index_.try_emplace(leaf, leaves_.size()).second) leaves_.emplace_back(leaf);
        return;
      }
      if (node->scratch != -1) return;
      if (node->freed()) {
        throw Error(ErrorCode::kValue, "backward",
                    "given a graph of which a part was freed by an earlier backward, expected "
                    "retain_graph=True in that call");
      }
      node->scratch = kOpen;
      stack.emplace_back(node, 0);
    };
    try {
      open(root);
      while (!stack.empty()) {
        auto& [node, next] = stack.back();
        if (next < node->inputs.size()) {
          open(static_cast<TapeNode*>(node->inputs[next++].node.get()));
          continue;
        }
        node->scratch = static_cast<int32_t>(order_.size());
        order_.push_back({Ref<TapeNode>(node)});
        stack.pop_back();
      }
    } catch (...) {
      for (auto& [node, next] : stack) node->scratch = -1;
      throw;
    }
  }

  bool want_marked() {
    bool any = false;
    for (LeafState& leaf : leaves_) any |= leaf.needed = leaf.node->request != Request::kNull;
    return any;
  }

  bool want(InputRefs variables) {
    for (std::size_t i = 0; i < variables.size(); ++i) {
      const auto found = leaf_index_.find(leaf_of(*variables[i]));
      if (found == leaf_index_.end() && options_.allow_unused) continue;
      if (found == leaf_index_.end()) {
        throw Error(ErrorCode::kValue, "grad",
                    fmt::format("given variable {} from which the outputs do not depend, expected "
                                "an array marked with attach_grad() before it was used",
                                i));
      }
      LeafState& leaf = leaves_[found->second];
      if (leaf.node->request == Request::kNull) {
        throw Error(ErrorCode::kValue, "grad",
                    fmt::format("given variable {} with grad_req 'null', expected 'write' or "
                                "'add': nothing has been recorded of it",
                                i));
      }
      leaf.needed = true;
    }
    return true;
  }

  static std::size_t outputs_of(const TapeNode& node) {
    return node.kind() == TapeNode::Kind::kOperation
               ? static_cast<const OperationNode&>(node).output_types.size()
               : static_cast<const FunctionNode&>(node).output_types.size();
  }

  static const TapeNode& node_of(const ir::Entry& entry) {
    return *static_cast<const TapeNode*>(entry.node.get());
  }

  // Whether gradients are to flow to a node; `leaf` is its state, if it is one.
  bool needed(const TapeNode& node, const LeafState* leaf) const {
    if (leaf != nullptr) return leaf->needed;
    return node.kind() != TapeNode::Kind::kConstant &&
           order_[static_cast<std::size_t>(node.scratch)].needed;
  }

  LeafState* leaf_state(const TapeNode& node) {
    if (node.kind() != TapeNode::Kind::kLeaf) return nullptr;
    return &leaves_[leaf_index_.at(static_cast<const LeafNode*>(&node))];
  }

  // --- the gradients ---------------------------------------------------------------------------

  // Gradients go straight into the leaves' buffers unless the pass still has to read one of them,
  // two lie in one place, or the pass may be refused halfway: then nothing is to be written.
  void decide_targets(InputRefs head_grads) {
    ChunkSet buffers(leaves_.size());
    bool shared = false, overwritten = false;
    for (const LeafState& leaf : leaves_) {
      if (!leaf.needed) continue;
      shared |= buffers.contains(leaf.node->grad.chunk().get());
      overwritten |= leaf.node->request == Request::kWrite;
      buffers.insert(leaf.node->grad.chunk().get());
    }
    direct_ = !options_.create_graph && !(shared && overwritten && buffers_overlap());
    for (const NDArray* grad : head_grads)
      if (grad != nullptr && !grad->is_none()) direct_ &= !buffers.contains(grad->chunk().get());
    for (const Visit& visit : order_) {
      if (visit.node->kind() != TapeNode::Kind::kOperation) continue;
      direct_ &= !visit.needed || visit.node->op->has_gradient();
      for (const NDArray& saved : static_cast<const OperationNode&>(*visit.node).saved())
        direct_ &= !buffers.contains(saved.chunk().get());
    }
  }

  // Parts of one leaf's gradient would be among those of another.
  bool buffers_overlap() const {
    std::vector<const NDArray*> buffers;
    buffers.reserve(leaves_.size());
    for (const LeafState& leaf : leaves_)
      if (leaf.needed && leaf.node->grad.bytes() > 0) buffers.push_back(&leaf.node->grad);
    std::ranges::sort(buffers, {}, [](const NDArray* buffer) {
      return std::pair(buffer->chunk().get(), buffer->offset());
    });
    // Of two that overlap, the first also overlaps the one that begins next after it.
    return std::ranges::adjacent_find(buffers, [](const NDArray* a, const NDArray* b) {
             return overlap(*a, *b);
           }) != buffers.end();
  }

  void pass(InputRefs heads, InputRefs head_grads) {
    const AutogradScope scope({.recording = options_.create_graph,
                               .training = options_.training,
                               .retaining = options_.retain_graph});
    seed(heads, head_grads);
    for (std::size_t i = order_.size(); i-- > 0;) {
      Visit& visit = order_[i];
      if (visit.needed) step(visit);
      if (!options_.retain_graph) visit.node->free();
    }
  }

  void seed(InputRefs heads, InputRefs head_grads) {
    if (!head_grads.empty() && head_grads.size() != heads.size()) {
      throw Error(ErrorCode::kValue, "backward",
                  fmt::format("given {} head gradients for {} arrays, expected one for each",
                              head_grads.size(), heads.size()));
    }
    for (std::size_t i = 0; i < heads.size(); ++i) {
      const NDArray* grad = head_grads.empty() ? nullptr : head_grads[i];
      const bool given = grad != nullptr && !grad->is_none();
      if (given && (grad->shape() != heads[i]->shape() || grad->dtype() != heads[i]->dtype())) {
        throw Error(ErrorCode::kValue, "backward",
                    fmt::format("given head gradient {} of {} {}, expected {} {} as the array", i,
                                dtype_name(grad->dtype()), to_string(grad->shape()),
                                dtype_name(heads[i]->dtype()), to_string(heads[i]->shape())));
      }
      const TapeEntry* entry = tape_entry(*heads[i]);
      NDArray value = given ? *grad : like("ones_like", *heads[i]).detach();
      deliver(*entry->node, entry->index, leaf_state(*entry->node),
              {.array = std::move(value), .fresh = !given});
    }
  }

  // A part of the gradient of output `index` of `node`.
  void deliver(const TapeNode& node, int32_t index, LeafState* leaf, InputGrad grad) {
    if (!needed(node, leaf)) return;
    if (leaf == nullptr) {
      const Visit& visit = order_[static_cast<std::size_t>(node.scratch)];
      sums_[visit.first_sum + static_cast<std::size_t>(index)].add(std::move(grad));
    } else if (direct_) {
      leaf->buffer.accept(grad);
    } else {
      leaf->sum.add(std::move(grad));
    }
  }

  static Unasked unasked_of(const TapeNode& node) {
    return node.kind() == TapeNode::Kind::kOperation
               ? static_cast<const OperationNode&>(node).parsed->op().unasked()
               : static_cast<const FunctionNode&>(node).unasked;
  }

  using Arrays = InlineVector<NDArray, 4>;

  void step(const Visit& visit) {
    const TapeNode& node = *visit.node;
    Arrays douts(outputs_of(node));
    bool any = false;
    for (std::size_t o = 0; o < douts.size(); ++o) {
      douts[o] = sums_[visit.first_sum + o].take();
      any |= !douts[o].is_none();
    }
    const Unasked alone = any ? Unasked::kNothing : unasked_of(node);
    if (!any && alone == Unasked::kNothing) return;
    InlineVector<InputGrad, 4> grads(node.inputs.size());
    if (node.kind() == TapeNode::Kind::kOperation)
      differentiate(visit, douts.span(), grads.span());
    else
      call_function(visit, douts.span(), grads.span());
    for (std::size_t i = 0; i < grads.size(); ++i) {
      const ir::Entry& input = node.inputs[i];
      LeafState* const leaf = input_leaves_[visit.first_leaf + i];
      if (grads[i].array.is_none()) continue;
      if (alone == Unasked::kStates) {  // zeros: the node has run, which was all
        if (leaf == nullptr) continue;
        grads[i].array = grads[i].array.detach();
      }
      deliver(node_of(input), input.index, leaf, std::move(grads[i]));
    }
  }

  // Where the gradients of a node's inputs may be computed to: the buffers of leaves.
  using Targets = InlineVector<GradTarget, 8>;
  void find_targets(const Visit& visit, Targets& targets) const {
    for (std::size_t i = 0; i < visit.node->inputs.size(); ++i) {
      const LeafState* leaf = input_leaves_[visit.first_leaf + i];
      const bool direct = direct_ && leaf != nullptr && leaf->needed;
      targets.push_back(direct ? leaf->buffer.target() : GradTarget());
    }
    // An array used twice by one call: its buffer takes one gradient at a time.
    for (std::size_t i = 1; i < targets.size(); ++i) {
      for (std::size_t j = 0; j < i && targets[i].buffer != nullptr; ++j)
        if (targets[j].buffer == targets[i].buffer) targets[i] = GradTarget();
    }
  }

  void differentiate(const Visit& visit, std::span<const NDArray> douts,
                     std::span<InputGrad> grads) const {
    InlineVector<bool, 8> wants;
    for (std::size_t i = 0; i < grads.size(); ++i)
      wants.push_back(needed(node_of(visit.node->inputs[i]), input_leaves_[visit.first_leaf + i]));
    Targets targets;
    find_targets(visit, targets);
    const auto& operation = static_cast<const OperationNode&>(*visit.node);
    run_rule(operation, douts, wants.span(), targets.span(), grads);
    for (std::size_t i = 0; operation.watcher != nullptr && i < grads.size(); ++i)
      if (!grads[i].array.is_none()) (*operation.watcher)(static_cast<int>(i), grads[i].array);
  }

  void call_function(const Visit& visit, std::span<NDArray> given,
                     std::span<InputGrad> grads) const {
    const auto& function = static_cast<const FunctionNode&>(*visit.node);
    std::vector<NDArray> douts(std::make_move_iterator(given.begin()),
                               std::make_move_iterator(given.end()));
    const bool gaps = function.sees_gaps && options_.create_graph;
    for (std::size_t o = 0; !gaps && o < douts.size(); ++o) {
      if (!douts[o].is_none()) continue;
      const ArrayType& type = function.output_types[o];
      douts[o] = like("zeros_like", NDArray(type.shape, type.dtype, function.device));
    }
    std::vector<NDArray> targets(grads.size());
    Targets offered;
    find_targets(visit, offered);
    for (std::size_t i = 0; i < targets.size(); ++i)
      if (offered[i].buffer != nullptr && offered[i].request == Request::kWrite)
        targets[i] = *offered[i].buffer;
    std::vector<NDArray> results = function.gradient(std::move(douts), targets);
    MX_ASSERT(results.size() == grads.size());
    for (std::size_t i = 0; i < grads.size(); ++i) {
      grads[i].in_target = !targets[i].is_none() && results[i].chunk() == targets[i].chunk() &&
                           results[i].offset() == targets[i].offset();
      grads[i].array = std::move(results[i]);
    }
  }

  const BackwardOptions options_;
  bool direct_ = false;
  std::vector<Visit> order_;
  std::vector<GradSum> sums_;             // per output of each node
  std::vector<LeafState*> input_leaves_;  // per input of each node; null where it is no leaf
  std::deque<LeafState> leaves_;
  std::unordered_map<const LeafNode*, std::size_t> leaf_index_;
};

}  // namespace

void backward(InputRefs heads, InputRefs head_grads, const BackwardOptions& options) {
  Backward(options).run(heads, head_grads);
}

std::vector<NDArray> gradients(InputRefs heads, InputRefs head_grads, InputRefs variables,
                               const BackwardOptions& options) {
  return Backward(options).run(heads, head_grads, variables);
}

}  // namespace mxnet
