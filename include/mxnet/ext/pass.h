// SPDX-License-Identifier: Apache-2.0
// Passes and partitioners of an extension: functions of the user, and the tables that the host
// calls them by.
#pragma once
#include <deque>

#include "mxnet/ext/graph.h"

namespace mxnet {
namespace ext {

using graphPass_t = MXReturnValue (*)(Graph* graph, const Attributes& options);
// Gives each node of the graph kStays (as it comes), kAnyPart, or the number of a part.
using supportedOps_t = MXReturnValue (*)(const Graph* graph, std::vector<int>* ids,
                                         const Attributes& options);
using reviewSubgraph_t = MXReturnValue (*)(const Graph* part, int number, bool* accept,
                                           const Attributes& options, Attributes* attrs);
constexpr int kStays = kMXExtStays, kAnyPart = kMXExtAnyPart;

// Filled by REGISTER_PASS.
class CustomPass {
 public:
  explicit CustomPass(const char* name) : name_(name) {}
  CustomPass& setBody(graphPass_t fn) { return body_ = fn, *this; }

  MXExtPass table() {
    if (body_ == nullptr) throw std::logic_error("pass " + name_ + " lacks setBody");
    return {name_.c_str(), this, run};
  }

 private:
  static int run(void* self, const MXExtGraph* graph, const MXExtAttrs* options,
                 const MXExtRewrite* rewrite, MXExtMessage* message) {
    return detail::guarded(message, [&] {
      Graph network(*graph, rewrite);
      const MXReturnValue result =
          static_cast<CustomPass*>(self)->body_(&network, detail::attributes(*options));
      if (result == MX_SUCCESS) {
        MXExtMessage refused{};
        if (rewrite->accept(rewrite, &detail::FlatGraph(network).get(), &refused) != 0)
          throw std::runtime_error(refused.text);
      }
      return result;
    });
  }

  const std::string name_;
  graphPass_t body_ = nullptr;
};

// Chooses nodes by walking from one that it likes to its neighbours. Nodes go by their number in
// the graph that the function of setCreateSelector was given. Made anew for each network.
class CustomOpSelector {
 public:
  virtual ~CustomOpSelector() = default;
  virtual bool Select(int node) = 0;  // may a part begin here?
  // May it grow from `node` to what that reads, or to what reads it?
  virtual bool SelectInput(int node, int input) = 0;
  virtual bool SelectOutput(int node, int output) = 0;
  // Which of the part's nodes to keep. Without: all.
  virtual void Filter(std::vector<int>& candidates, std::vector<int>& keep) { keep = candidates; }
  virtual void Reset() {}  // the next part begins
};
using createSelector_t = MXReturnValue (*)(const Graph* graph, CustomOpSelector** selector,
                                           const Attributes& options);

namespace detail {

// Numbers of the parts that a selector finds, each node in one at most.
inline std::vector<int> grown_parts(const Graph& graph, CustomOpSelector& selector) {
  std::unordered_map<const Node*, int> index;
  for (size_t n = 0; n < graph.size(); ++n) index[graph.getNode(n)] = static_cast<int>(n);
  std::vector<int> ids(graph.size(), kStays);
  const auto at = [&](int node) -> int& { return ids[static_cast<size_t>(node)]; };
  int part = 0;
  for (int seed = 0; seed < static_cast<int>(graph.size()); ++seed) {
    if (graph.getNode(static_cast<size_t>(seed))->op == "null" || at(seed) != kStays) continue;
    selector.Reset();
    if (!selector.Select(seed)) continue;
    std::vector<int> members{seed}, keep;
    std::vector<bool> in(graph.size());
    in[static_cast<size_t>(seed)] = true;
    const auto add = [&](int node) {
      in[static_cast<size_t>(node)] = true;
      members.push_back(node);
    };
    const auto is_free = [&](int node) {
      return graph.getNode(static_cast<size_t>(node))->op != "null" && at(node) == kStays &&
             !in[static_cast<size_t>(node)];
    };
    for (size_t m = 0; m < members.size(); ++m) {
      const int node = members[m];
      const Node* here = graph.getNode(static_cast<size_t>(node));
      for (const NodeEntry& input : here->inputs) {
        const int other = index.at(input.node);
        if (is_free(other) && selector.SelectInput(node, other)) add(other);
      }
      for (const std::vector<NodeEntry>& readers : here->outputs) {
        for (const NodeEntry& reader : readers) {
          const int other = index.at(reader.node);
          if (is_free(other) && selector.SelectOutput(node, other)) add(other);
        }
      }
    }
    selector.Filter(members, keep);
    for (const int node : keep) {
      if (node < 0 || node >= static_cast<int>(graph.size()) || !in[static_cast<size_t>(node)])
        throw std::out_of_range("Filter keeps a node that is not among the candidates");
      at(node) = part;
    }
    if (!keep.empty()) ++part;
  }
  return ids;
}

}  // namespace detail

// Filled by REGISTER_PARTITIONER: one or more strategies, applied in the order in which they are
// added.
class CustomPartitioner {
 public:
  explicit CustomPartitioner(const char* name) : name_(name) {}
  CustomPartitioner& addStrategy(const char* name, const char* subgraph_op) {
    strategies_.emplace_back();
    strategies_.back().name = name;
    strategies_.back().subgraph_op = subgraph_op;
    return *this;
  }
  CustomPartitioner& setSupportedOps(const char* strategy, supportedOps_t fn) {
    return at(strategy).supported = fn, *this;
  }
  CustomPartitioner& setCreateSelector(const char* strategy, createSelector_t fn) {
    return at(strategy).create_selector = fn, *this;
  }
  CustomPartitioner& setReviewSubgraph(const char* strategy, reviewSubgraph_t fn) {
    return at(strategy).review = fn, *this;
  }

  MXExtPartitioner table() {
    if (!unknown_.empty())
      throw std::logic_error("partitioner " + name_ + " has no strategy " + unknown_);
    tables_.clear();
    for (Strategy& strategy : strategies_) {
      if ((strategy.supported == nullptr) == (strategy.create_selector == nullptr))
        throw std::logic_error("strategy " + strategy.name + " of partitioner " + name_ +
                               " needs one of setSupportedOps and setCreateSelector");
      tables_.push_back({strategy.name.c_str(), strategy.subgraph_op.c_str(), &strategy, select,
                         strategy.review != nullptr ? review : nullptr});
    }
    return {name_.c_str(), tables_.data(), static_cast<int32_t>(tables_.size())};
  }

 private:
  struct Strategy {
    std::string name, subgraph_op;
    supportedOps_t supported = nullptr;
    createSelector_t create_selector = nullptr;
    reviewSubgraph_t review = nullptr;
  };
  // An unknown name is kept for table(): nothing may be thrown while a library is being loaded.
  Strategy& at(const char* name) {
    for (Strategy& strategy : strategies_)
      if (strategy.name == name) return strategy;
    unknown_ = name;
    return ignored_;
  }

  static int select(void* self, const MXExtGraph* graph, const MXExtAttrs* options, int32_t* ids,
                    MXExtMessage* message) {
    return detail::guarded(message, [&] {
      const Strategy& strategy = *static_cast<Strategy*>(self);
      const Graph network(*graph);
      std::vector<int> chosen(network.size(), kStays);
      MXReturnValue result = MX_SUCCESS;
      if (strategy.supported != nullptr) {
        result = strategy.supported(&network, &chosen, detail::attributes(*options));
        if (chosen.size() != network.size())
          throw std::length_error("setSupportedOps's function has changed the length of its list");
      } else {
        CustomOpSelector* made = nullptr;
        result = strategy.create_selector(&network, &made, detail::attributes(*options));
        const std::unique_ptr<CustomOpSelector> selector(made);
        if (result == MX_SUCCESS && selector == nullptr)
          throw std::logic_error("setCreateSelector's function has made no selector");
        if (result == MX_SUCCESS) chosen = detail::grown_parts(network, *selector);
      }
      std::copy(chosen.begin(), chosen.end(), ids);
      return result;
    });
  }
  static int review(void* self, const MXExtGraph* part, int32_t number, const MXExtAttrs* options,
                    int32_t* accepted, const MXExtReview* review, MXExtMessage* message) {
    return detail::guarded(message, [&] {
      const Graph network(*part);
      Attributes attrs;
      bool accept = true;
      const MXReturnValue result = static_cast<Strategy*>(self)->review(
          &network, number, &accept, detail::attributes(*options), &attrs);
      for (const auto& attr : attrs) {
        if (review->set_attr(review, attr.first.c_str(), attr.second.c_str()) != 0)
          throw std::runtime_error("no memory for the attributes of a part");
      }
      *accepted = accept ? 1 : 0;
      return result;
    });
  }

  const std::string name_;
  std::string unknown_;
  std::deque<Strategy> strategies_;  // their addresses stay
  Strategy ignored_;
  std::vector<MXExtStrategy> tables_;
};

}  // namespace ext
}  // namespace mxnet
