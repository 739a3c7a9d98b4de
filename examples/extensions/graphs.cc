// SPDX-License-Identifier: Apache-2.0
// A pass and two partitioners in a library of their own, and the operator that runs the parts.
//   mx.library.load("/path/libgraphs.so"); sym.optimize_for("example_half", args)
#include <mxnet/lib_api.h>

#include <cmath>

using namespace mxnet::ext;

namespace {

// Every output is multiplied by a new parameter, "NAME_factor", which is 0.5, or what the option
// `factor` says.
MXReturnValue scale_outputs(Graph* graph, const Attributes& options) {
  const auto given = options.find("factor");
  const float factor = given == options.end() ? 0.5f : std::stof(given->second);
  for (NodeEntry& output : graph->outputs) {
    Node* parameter = graph->addNode(output.node->name + "_factor", "null");
    parameter->alloc_arg({1}, MXContext::CPU(), kFloat32);
    parameter->tensor->data<float>()[0] = factor;
    Node* product = graph->addNode(output.node->name + "_scaled", "broadcast_mul");
    product->inputs = {output, {parameter, 0}};
    output = {product, 0};
  }
  return MX_SUCCESS;
}

REGISTER_PASS(example_half).setBody(scale_outputs);

// Runs a part that holds nothing but exp and log, element by element.
class Chain : public CustomStatefulOp {
 public:
  explicit Chain(const std::string& json) {
    const std::unique_ptr<Graph> part = Graph::fromString(json);
    for (const Node* node : part->topological_sort())
      if (node->op != "null") ops_.push_back(node->op);
  }
  MXReturnValue Forward(std::vector<MXTensor>* inputs, std::vector<MXTensor>* outputs,
                        const OpResource&) override {
    const MXTensor &in = inputs->at(0), &out = outputs->at(0);
    for (int64_t i = 0; i < in.size(); ++i) {
      float value = in.data<float>()[i];
      for (const std::string& op : ops_) value = op == "exp" ? std::exp(value) : std::log(value);
      out.data<float>()[i] = value;
    }
    return MX_SUCCESS;
  }

 private:
  std::vector<std::string> ops_;
};

MXReturnValue new_chain(const Attributes& attrs, const MXContext&, const ShapeList&,
                        const std::vector<int>, CustomStatefulOp** state) {
  *state = new Chain(attrs.at(MX_STR_SUBGRAPH_SYM_JSON));
  return MX_SUCCESS;
}

REGISTER_OP(example_chain).setIsSubgraphOp().setCreateOpState(new_chain, "cpu");

bool is_known(const Node& node) { return node.op == "exp" || node.op == "log"; }

MXReturnValue choose(const Graph* graph, std::vector<int>* ids, const Attributes&) {
  for (size_t n = 0; n < graph->size(); ++n)
    if (is_known(*graph->getNode(n))) ids->at(n) = kAnyPart;
  return MX_SUCCESS;
}

// Takes parts of at least as many nodes as the option `smallest` says.
MXReturnValue review(const Graph* part, int, bool* accept, const Attributes& options,
                     Attributes* attrs) {
  const auto smallest = options.find("smallest");
  size_t count = 0;
  for (size_t n = 0; n < part->size(); ++n)
    if (part->getNode(n)->op != "null") ++count;
  *accept = smallest == options.end() || count >= std::stoul(smallest->second);
  (*attrs)["nodes"] = std::to_string(count);
  return MX_SUCCESS;
}

REGISTER_PARTITIONER(example_chains)
    .addStrategy("chains", "example_chain")
    .setSupportedOps("chains", choose)
    .setReviewSubgraph("chains", review);

// The same by walking from node to node.
class Walker : public CustomOpSelector {
 public:
  explicit Walker(const Graph* graph) : graph_(graph) {}
  bool Select(int node) override { return is_known(*graph_->getNode(static_cast<size_t>(node))); }
  bool SelectInput(int, int input) override { return Select(input); }
  bool SelectOutput(int, int output) override { return Select(output); }

 private:
  const Graph* graph_;
};

MXReturnValue new_walker(const Graph* graph, CustomOpSelector** selector, const Attributes&) {
  *selector = new Walker(graph);
  return MX_SUCCESS;
}

REGISTER_PARTITIONER(example_walks)
    .addStrategy("walks", "_CachedOp")
    .setCreateSelector("walks", new_walker);

}  // namespace

MXReturnValue initialize(int version) { return version >= 10901 ? MX_SUCCESS : MX_FAIL; }
