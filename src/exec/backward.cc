// SPDX-License-Identifier: Apache-2.0
// The backward pass: hands gradients from users to inputs, node by node.
#include "exec/backward.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <ranges>
#include <utility>
#include <vector>

#include "base/error.h"
#include "exec/autograd_state.h"
#include "exec/backward_graph.h"
#include "exec/chunk_set.h"
#include "exec/imperative.h"
#include "exec/shared_arrays.h"
#include "op/inline_vector.h"

namespace mxnet {
namespace {

// One pass over one graph; an object lives for one call. A node is visited after all its users, so
// that the gradients of its outputs are complete.
class Backward {
 public:
  explicit Backward(const BackwardOptions& options) : options_(options) {}

  void run(InputRefs heads, InputRefs head_grads) {
    graph_.collect(heads, {}, options_.allow_unused);
    decide_targets(head_grads);
    pass(heads, head_grads);
    const AutogradScope scope({.recording = false, .training = options_.training});
    for (ReachedLeaf& leaf : graph_.leaves()) {
      if (!leaf.wanted) continue;
      if (!leaf.sum.empty()) leaf.buffer.accept({.array = leaf.sum.take()});
      leaf.buffer.finish();
      leaf.node->fresh_grad.store(true, std::memory_order_relaxed);
    }
  }

  std::vector<NDArray> run(InputRefs heads, InputRefs head_grads, InputRefs variables) {
    graph_.collect(heads, variables, options_.allow_unused);
    pass(heads, head_grads);
    std::vector<NDArray> grads;
    for (const NDArray* variable : variables) {
      const ReachedLeaf* const leaf = graph_.reached(*variable);
      if (leaf == nullptr) {
        grads.emplace_back();
        continue;
      }
      NDArray grad = leaf->sum.sum();
      if (grad.is_none()) grad = like("zeros_like", *variable);
      if (options_.create_graph) keep_on_tape(*variable, grad);
      grads.push_back(std::move(grad));
    }
    return grads;
  }

 private:
  using Visit = BackwardGraph::Visit;

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

  // Gradients go straight into the leaves' buffers unless the pass still has to read one of them,
  // two lie in one place, or the pass may be refused halfway: then nothing is to be written.
  void decide_targets(InputRefs head_grads) {
    ChunkSet buffers(graph_.leaves().size());
    bool shared = false, overwritten = false;
    for (const ReachedLeaf& leaf : graph_.leaves()) {
      if (!leaf.wanted) continue;
      shared |= buffers.contains(leaf.node->grad.chunk().get());
      overwritten |= leaf.node->request == Request::kWrite;
      buffers.insert(leaf.node->grad.chunk().get());
    }
    direct_ = !options_.create_graph && !(shared && overwritten && buffers_overlap());
    for (const NDArray* grad : head_grads)
      if (grad != nullptr && !grad->is_none()) direct_ &= !buffers.contains(grad->chunk().get());
    for (const Visit& visit : graph_.order()) {
      if (visit.node->kind() != TapeNode::Kind::kOperation) continue;
      direct_ &= !visit.needed || visit.node->op->has_gradient();
      for (const NDArray& saved : static_cast<const OperationNode&>(*visit.node).saved())
        direct_ &= !buffers.contains(saved.chunk().get());
    }
  }

  // Parts of one leaf's gradient would be among those of another.
  bool buffers_overlap() const {
    std::vector<const NDArray*> buffers;
    buffers.reserve(graph_.leaves().size());
    for (const ReachedLeaf& leaf : graph_.leaves())
      if (leaf.wanted && leaf.node->grad.bytes() > 0) buffers.push_back(&leaf.node->grad);
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
    AutogradState& state = autograd_state();
    sums_.resize(graph_.num_outputs());
    seed(heads, head_grads);
    for (Visit& visit : std::views::reverse(graph_.order())) {
      const bool last = !options_.retain_graph && visit.node->claim();
      // What is computed of the node may overwrite what was kept for it, if no other pass reads it.
      state.retaining = !last;
      if (visit.needed) step(visit);
      if (last) {
        visit.freed = true;
        visit.node->free_claimed();
      } else if (!options_.retain_graph) {
        visit.node->free_later();
      }
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
      deliver(*entry->node, entry->index, graph_.reached(*entry->node),
              {.array = std::move(value), .fresh = !given});
    }
  }

  // A part of the gradient of output `index` of `node`.
  void deliver(const TapeNode& node, int32_t index, ReachedLeaf* leaf, InputGrad grad) {
    if (!graph_.needed(node, leaf)) return;
    if (leaf == nullptr) {
      const std::size_t first = graph_.visit_of(node).first_output;
      sums_[first + static_cast<std::size_t>(index)].add(std::move(grad));
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
    Arrays douts(BackwardGraph::outputs_of(node));
    bool any = false;
    for (std::size_t o = 0; o < douts.size(); ++o) {
      douts[o] = sums_[visit.first_output + o].take();
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
      ReachedLeaf* const leaf = graph_.input_leaf(visit, i);
      if (grads[i].array.is_none()) continue;
      if (alone == Unasked::kStates) {  // zeros: the node has run, which was all
        if (leaf == nullptr) continue;
        grads[i].array = grads[i].array.detach();
      }
      deliver(BackwardGraph::node_of(input), input.index, leaf, std::move(grads[i]));
    }
  }

  // Where the gradients of a node's inputs may be computed to: the buffers of leaves.
  using Targets = InlineVector<GradTarget, 8>;
  void find_targets(const Visit& visit, Targets& targets) const {
    for (std::size_t i = 0; i < visit.node->inputs.size(); ++i) {
      const ReachedLeaf* leaf = graph_.input_leaf(visit, i);
      const bool direct = direct_ && leaf != nullptr && leaf->wanted;
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
    for (std::size_t i = 0; i < grads.size(); ++i) wants.push_back(graph_.needed(visit, i));
    Targets targets;
    find_targets(visit, targets);
    const auto& operation = static_cast<const OperationNode&>(*visit.node);
    run_rule(operation, douts, wants.span(), targets.span(), grads);
    for (std::size_t i = 0; operation.watcher != nullptr && i < grads.size(); ++i)
      if (!grads[i].array.is_none()) (*operation.watcher)(static_cast<int>(i), grads[i].array);
  }

  // What a user's function computes backwards is on no tape: as constants its results would lead to
  // gradients of gradients that are wrong without a word.
  static void refuse_again(const Visit& visit, std::vector<NDArray> known,
                           std::span<NDArray> results) {
    std::vector<NDArray*> to;
    for (std::size_t i = 0; i < results.size(); ++i) {
      const NDArray& result = results[i];
      if (result.is_none()) continue;
      const ir::Entry& from = visit.node->inputs[i];
      known.emplace_back(result.shape(), result.dtype(), result.device());  // its place is enough
      known.back().set_tape(
          Ref<TapeInfo>(new TapeEntry(Ref<TapeNode>(static_cast<TapeNode*>(from.node.get())),
                                      static_cast<int32_t>(from.index))));
      if (tape_entry(result) == nullptr) to.push_back(&results[i]);
    }
    std::vector<NDArray*> from;
    from.reserve(known.size());
    for (NDArray& array : known) from.push_back(&array);
    record_function(
        [](const std::vector<NDArray>&, std::span<const NDArray>) -> std::vector<NDArray> {
          throw Error(ErrorCode::kValue, "backward",
                      "given the gradient of a gradient that a user's function computes (an "
                      "autograd.Function, a CustomOp), expected gradients of operators alone: what "
                      "its backward does is not recorded");
        },
        from, to);
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
    const bool refuses = options_.create_graph && function.unasked == Unasked::kLoss;
    std::vector<NDArray> known;
    if (refuses) known = douts;
    std::vector<NDArray> results = function.gradient(std::move(douts), targets);
    MX_ASSERT(results.size() == grads.size());
    if (refuses) refuse_again(visit, std::move(known), results);
    for (std::size_t i = 0; i < grads.size(); ++i) {
      grads[i].in_target = !targets[i].is_none() && results[i].chunk() == targets[i].chunk() &&
                           results[i].offset() == targets[i].offset();
      grads[i].array = std::move(results[i]);
    }
  }

  const BackwardOptions options_;
  bool direct_ = false;
  BackwardGraph graph_;
  std::vector<GradSum> sums_;  // per output of each node
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
