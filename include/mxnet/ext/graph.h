// SPDX-License-Identifier: Apache-2.0
// Networks as extensions see them: nodes that a pass may change, add and leave out.
#pragma once
#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>

#include "mxnet/ext/tensor.h"

namespace mxnet {
namespace ext {

class Graph;
struct Node;

struct NodeEntry {
  NodeEntry() = default;
  NodeEntry(Node* node, int entry) : node(node), entry(entry) {}

  Node* node = nullptr;
  int entry = 0;  // which of its outputs
};

// An operator's application, or a variable (op "null"). Belongs to its graph.
struct Node {
  std::string op, name;
  std::vector<NodeEntry> inputs;
  // Who reads each output, and as which input. For passes to look at and to keep up with; the
  // network that a pass leaves is what `inputs` say.
  std::vector<std::vector<NodeEntry>> outputs;
  Attributes attrs;
  std::vector<Graph*> subgraphs;
  MXTensor* tensor = nullptr;  // value of a parameter that the caller has given
  // Of each output; an empty shape, kUNSET, where it is not known.
  std::vector<std::vector<int64_t>> shapes;
  std::vector<MXDType> dtypes;

  // Makes this variable a new argument, or auxiliary state, of the network, and `tensor` its
  // memory, which is the pass's to fill. Only on the CPU. Throws std::runtime_error.
  void alloc_arg(const std::vector<int64_t>& shape, const MXContext& context, MXDType dtype) {
    allocate(shape, context, dtype, 0);
  }
  void alloc_aux(const std::vector<int64_t>& shape, const MXContext& context, MXDType dtype) {
    allocate(shape, context, dtype, 1);
  }

 private:
  friend class Graph;
  void allocate(const std::vector<int64_t>& shape, const MXContext& context, MXDType dtype,
                int32_t auxiliary) {
    if (rewrite == nullptr)
      throw std::runtime_error(name + ": parameters can be added by passes only");
    if (context.dev_type != "cpu")
      throw std::runtime_error(name + ": given device " + context.dev_type + ", expected cpu");
    if (shape.size() > MX_EXT_MAX_DIMS)
      throw std::runtime_error(name + ": a shape has over 32 dimensions");
    MXExtShape dims{static_cast<int32_t>(shape.size()), {}};
    std::copy(shape.begin(), shape.end(), dims.dims);
    MXExtTensor made{};
    MXExtMessage message{};
    if (rewrite->parameter(rewrite, name.c_str(), &dims, dtype, auxiliary, &made, &message) != 0)
      throw std::runtime_error(message.text);
    own_tensor.reset(new MXTensor(made));
    tensor = own_tensor.get();
  }
  const MXExtRewrite* rewrite = nullptr;
  std::unique_ptr<MXTensor> own_tensor;
};

namespace detail {
class FlatGraph;
MX_EXT_HIDDEN inline const MXExtHost*& host() {
  static const MXExtHost* host = nullptr;
  return host;
}
}  // namespace detail

// Owns its nodes. Used by one thread at a time.
class Graph {
 public:
  Graph() = default;
  explicit Graph(const MXExtGraph& graph, const MXExtRewrite* rewrite = nullptr)
      : rewrite_(rewrite) {
    for (int32_t n = 0; n < graph.num_nodes; ++n) read_node(graph.nodes[n]);
    for (int32_t o = 0; o < graph.num_outputs; ++o)
      outputs.push_back({getNode(static_cast<size_t>(graph.outputs[o].node)),
                         static_cast<int>(graph.outputs[o].output)});
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // Throws std::runtime_error for a text that is no network.
  static std::unique_ptr<Graph> fromString(const std::string& json) {
    std::unique_ptr<Graph> graph;
    MXExtMessage message{};
    const auto take = [](void* context, const MXExtGraph* read) {
      static_cast<std::unique_ptr<Graph>*>(context)->reset(new Graph(*read));
    };
    if (detail::host()->read_graph(json.c_str(), take, &graph, &message) != 0)
      throw std::runtime_error(message.text);
    return graph;
  }
  std::string toString() const;

  size_t size() const { return nodes_.size(); }
  Node* getNode(size_t index) { return nodes_.at(index).get(); }
  const Node* getNode(size_t index) const { return nodes_.at(index).get(); }
  Node* addNode(const std::string& name, const std::string& op) {
    nodes_.emplace_back(new Node);
    Node* node = nodes_.back().get();
    node->name = name;
    node->op = op;
    node->rewrite = rewrite_;
    if (op == "null") inputs.push_back(node);
    return node;
  }
  // What the outputs need, each node once and after all that it reads.
  std::vector<Node*> topological_sort() const {
    std::vector<Node*> order;
    std::unordered_map<const Node*, size_t> next;  // input to go to; its count = done
    std::vector<Node*> stack;
    for (const NodeEntry& output : outputs) {
      stack.push_back(output.node);
      while (!stack.empty()) {
        Node* node = stack.back();
        size_t& at = next[node];
        if (at > node->inputs.size()) {
          stack.pop_back();
        } else if (at == node->inputs.size()) {
          ++at;
          order.push_back(node);
          stack.pop_back();
        } else {
          Node* input = node->inputs[at++].node;
          if (input == nullptr) throw std::runtime_error(node->name + " has an input of no node");
          if (next.count(input) == 0) stack.push_back(input);
        }
      }
    }
    return order;
  }
  void DFS(const std::function<void(Node*)>& handler) const {
    for (Node* node : topological_sort()) handler(node);
  }

  std::vector<Node*> inputs;  // the variables
  std::vector<NodeEntry> outputs;

 private:
  void read_node(const MXExtNode& given) {
    Node* node = addNode(given.name, given.op);
    node->attrs = detail::attributes(given.attrs);
    node->outputs.resize(static_cast<size_t>(given.num_outputs));
    for (int32_t i = 0; i < given.num_inputs; ++i) {
      Node* source = getNode(static_cast<size_t>(given.inputs[i].node));
      const auto entry = static_cast<size_t>(given.inputs[i].output);
      node->inputs.push_back({source, static_cast<int>(entry)});
      if (source->outputs.size() <= entry) source->outputs.resize(entry + 1);
      source->outputs[entry].push_back({node, static_cast<int>(i)});
    }
    for (int32_t s = 0; s < given.num_subgraphs; ++s) {
      parts_.emplace_back(new Graph(*given.subgraphs[s]));
      node->subgraphs.push_back(parts_.back().get());
    }
    if (given.tensor != nullptr) {
      node->own_tensor.reset(new MXTensor(*given.tensor));
      node->tensor = node->own_tensor.get();
    }
    for (int32_t o = 0; o < given.num_outputs; ++o) {
      const MXExtShape* shape = given.shapes != nullptr ? &given.shapes[o] : nullptr;
      node->shapes.emplace_back();
      if (shape != nullptr && shape->ndim > 0)
        node->shapes.back().assign(shape->dims, shape->dims + shape->ndim);
      node->dtypes.push_back(given.dtypes != nullptr ? static_cast<MXDType>(given.dtypes[o])
                                                     : kUNSET);
    }
  }

  const MXExtRewrite* rewrite_ = nullptr;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::unique_ptr<Graph>> parts_;
};

namespace detail {

// A graph as the border has it; borrows the texts of `graph`, which must not change meanwhile.
class FlatGraph {
 public:
  explicit FlatGraph(const Graph& graph) {
    const std::vector<Node*> order = graph.topological_sort();
    std::unordered_map<const Node*, int32_t> index;
    attrs_.reserve(order.size());
    for (const Node* node : order) {
      index.emplace(node, static_cast<int32_t>(index.size()));
      attrs_.emplace_back(node->attrs);
      inputs_.emplace_back();
      for (const NodeEntry& input : node->inputs)
        inputs_.back().push_back({index.at(input.node), input.entry});
      subgraphs_.emplace_back();
      for (const Graph* part : node->subgraphs) {
        parts_.emplace_back(new FlatGraph(*part));
        subgraphs_.back().push_back(&parts_.back()->get());
      }
      MXExtNode flat{};
      flat.op = node->op.c_str();
      flat.name = node->name.c_str();
      nodes_.push_back(flat);
    }
    for (size_t n = 0; n < nodes_.size(); ++n) {
      nodes_[n].attrs = attrs_[n].get();
      nodes_[n].inputs = inputs_[n].data();
      nodes_[n].num_inputs = static_cast<int32_t>(inputs_[n].size());
      nodes_[n].subgraphs = subgraphs_[n].data();
      nodes_[n].num_subgraphs = static_cast<int32_t>(subgraphs_[n].size());
    }
    for (const NodeEntry& output : graph.outputs)
      outputs_.push_back({index.at(output.node), output.entry});
    graph_ = {nodes_.data(), static_cast<int32_t>(nodes_.size()), outputs_.data(),
              static_cast<int32_t>(outputs_.size())};
  }
  const MXExtGraph& get() const { return graph_; }

 private:
  std::vector<AttrList> attrs_;
  std::vector<std::vector<MXExtEntry>> inputs_;
  std::vector<std::vector<const MXExtGraph*>> subgraphs_;
  std::vector<std::unique_ptr<FlatGraph>> parts_;
  std::vector<MXExtNode> nodes_;
  std::vector<MXExtEntry> outputs_;
  MXExtGraph graph_{};
};

}  // namespace detail

inline std::string Graph::toString() const {
  std::string json;
  MXExtMessage message{};
  const auto take = [](void* context, const char* text) {
    *static_cast<std::string*>(context) = text;
  };
  if (detail::host()->write_graph(&detail::FlatGraph(*this).get(), take, &json, &message) != 0)
    throw std::runtime_error(message.text);
  return json;
}

}  // namespace ext
}  // namespace mxnet
