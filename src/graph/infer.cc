// SPDX-License-Identifier: Apache-2.0
// Propagates shapes and types, each node by its operator's own rule, until nothing is learnt.
#include "graph/infer.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <numeric>

#include "base/error.h"
#include "base/numpy_shape.h"
#include "op/inline_vector.h"
#include "op/named_errors.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

// How many values an error shows: enough to see where a wrong shape came from.
constexpr int kShownValues = 8;

// One pass in order, then whoever is a neighbour of something that has been learnt since it was
// visited: the work is in proportion to what is learnt, however far it travels.
class Inference {
 public:
  Inference(const IndexedGraph& graph, std::vector<ArrayType>* types)
      : graph_(graph),
        types_(*types),
        queued_(static_cast<std::size_t>(graph.num_nodes())),
        first_reader_(static_cast<std::size_t>(graph.num_entries()) + 1) {
    list_readers();
  }

  void run() {
    for (next_ = 0; next_ < graph_.num_nodes(); ++next_) visit(next_);
    while (!queue_.empty()) {
      const int n = queue_.front();
      queue_.pop_front();
      queued_[static_cast<std::size_t>(n)] = false;
      visit(n);
    }
  }
  bool complete() const {
    return std::all_of(types_.begin(), types_.end(), [](auto& type) { return type.complete(); });
  }

 private:
  ArrayType& type(int entry) { return types_[static_cast<std::size_t>(entry)]; }

  void list_readers() {
    for (int n = 0; n < graph_.num_nodes(); ++n)
      for (int e : graph_.inputs(n)) ++first_reader_[static_cast<std::size_t>(e) + 1];
    std::partial_sum(first_reader_.begin(), first_reader_.end(), first_reader_.begin());
    readers_.resize(static_cast<std::size_t>(first_reader_.back()));
    std::vector<int> next(first_reader_.begin(), first_reader_.end() - 1);
    for (int n = 0; n < graph_.num_nodes(); ++n)
      for (int e : graph_.inputs(n))
        readers_[static_cast<std::size_t>(next[static_cast<std::size_t>(e)]++)] = n;
  }

  // To be visited (again), unless the first pass comes by anyway.
  void queue(int n) {
    if (n > next_ || graph_.node(n).is_variable() || queued_[static_cast<std::size_t>(n)]) return;
    queued_[static_cast<std::size_t>(n)] = true;
    queue_.push_back(n);
  }

  void store(int entry, const ArrayType& found, int by) {
    if (type(entry) == found) return;
    type(entry) = found;
    if (const int maker = graph_.node_of(entry); maker != by) queue(maker);
    for (int r = first_reader_[static_cast<std::size_t>(entry)];
         r < first_reader_[static_cast<std::size_t>(entry) + 1]; ++r) {
      if (const int reader = readers_[static_cast<std::size_t>(r)]; reader != by) queue(reader);
    }
  }

  void visit(int n) {
    const ir::Node& node = graph_.node(n);
    if (node.is_variable()) return;
    const std::span<const int> inputs = graph_.inputs(n);
    const int num_out = graph_.num_outputs(n);
    InlineVector<ArrayType, 8> local;
    for (int entry : inputs) local.emplace_back(type(entry));
    for (int o = 0; o < num_out; ++o) local.emplace_back(type(graph_.first_entry(n) + o));
    const std::span<ArrayType> in = local.span().first(inputs.size());
    const std::span<ArrayType> out = local.span().subspan(inputs.size());
    bool inputs_known = true;
    for (const ArrayType& type : in) inputs_known &= type.complete();
    Infer infer(*node.op, node.params.get(), in, out);
    try {
      node.op->infer(node.params.get(), infer);
    } catch (...) {
      rethrow_told_by(*node.op, title_of(node), [&] { return history(n); });
    }
    if (inputs.empty() && zero_is_unknown_)
      for (ArrayType& type : out) forget_zeros(&type.shape);
    bool learnt = false;
    // Of a value that the node reads twice the rule may have learnt at one place only: the other
    // says nothing.
    InlineVector<bool, 8> learnt_at;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      learnt_at.emplace_back(type(inputs[i]) != in[i]);
      learnt |= learnt_at.span()[i];
    }
    for (int o = 0; o < num_out; ++o)
      learnt |= type(graph_.first_entry(n) + o) != out[static_cast<std::size_t>(o)];
    if (!learnt) return;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (learnt_at.span()[i]) store(inputs[i], in[i], n);
    for (int o = 0; o < num_out; ++o)
      store(graph_.first_entry(n) + o, out[static_cast<std::size_t>(o)], n);
    // With what it has just found out the rule may find more, and has more to check.
    if (!inputs_known) queue(n);
  }

  static void forget_zeros(Shape* shape) {
    for (int i = 0; i < shape->ndim(); ++i)
      if ((*shape)[i] == 0) (*shape)[i] = Shape::kUnknownDim;
  }

  // The values that led to the node, nearest first.
  std::string history(int n) const {
    std::string text;
    std::vector<int> open(graph_.inputs(n).begin(), graph_.inputs(n).end());
    for (std::size_t i = 0; i < open.size() && i < kShownValues; ++i) {
      const int entry = open[i];
      const ir::Node& source = graph_.node(graph_.node_of(entry));
      const ArrayType& type = types_[static_cast<std::size_t>(entry)];
      text += fmt::format("\n  {} {}{}: {} {}",
                          i < graph_.inputs(n).size() ? "input" : "further back", source.name,
                          source.is_variable() ? "" : fmt::format(" ({})", source.op->name()),
                          dtype_name(type.dtype), to_string(type.shape));
      for (int further : graph_.inputs(graph_.node_of(entry)))
        if (std::find(open.begin(), open.end(), further) == open.end()) open.push_back(further);
    }
    return text;
  }

  const IndexedGraph& graph_;
  std::vector<ArrayType>& types_;
  // Shapes that operators without inputs are given: those that use their results know better.
  const bool zero_is_unknown_ = !is_numpy_shape();
  int next_ = 0;  // position of the first pass
  std::deque<int> queue_;
  std::vector<bool> queued_;
  std::vector<int> first_reader_, readers_;  // of each entry: nodes that read it
};

}  // namespace

bool infer_graph(const IndexedGraph& graph, std::vector<ArrayType>* types) {
  MX_ASSERT(static_cast<int>(types->size()) == graph.num_entries());
  Inference inference(graph, types);
  inference.run();
  return inference.complete();
}

}  // namespace mxnet
