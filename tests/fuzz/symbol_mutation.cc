// SPDX-License-Identifier: Apache-2.0
// Changes of saved graphs. Their texts stay graphs, wires that nobody may draw excepted: readers
// have fuzzers of their own.
#include "symbol_mutation.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mxnet/c_api.h"

namespace mxnet::c_test {
namespace {

constexpr std::array kValues{"0",           "1",
                             "2",           "3",
                             "-1",          "-2",
                             "4",           "7",
                             "64",          "2147483647",
                             "nan",         "inf",
                             "-2147483648", "1e30",
                             "0.5",         "None",
                             "True",        "False",
                             "()",          "(0,)",
                             "(1,)",        "(2,)",
                             "(1,1)",       "(2,2)",
                             "(3,3)",       "(0,1)",
                             "(1,0)",       "(-1,2)",
                             "(2,1,0)",     "(0,2,1)",
                             "(1,1,1)",     "(0,0,1,1)",
                             "(2,2,2,2)",   "[]",
                             "[0]",         "[1]",
                             "[0,0]",       "[0,1]",
                             "[1,0]",       "[2]",
                             "float32",     "float16",
                             "float64",     "int32",
                             "int8",        "uint8",
                             "int64",       "bool",
                             "bfloat16",    "relu",
                             "tanh",        "add",
                             "write",       "valid",
                             "constant",    "wrap",
                             "clip",        "9223372036854775807"};
constexpr std::array kShapes{"(2,3)", "(3,)",      "(1,)",      "()",           "(0,)",
                             "(2,0)", "(1,2,4,4)", "(2,2,2)",   "(4,1)",        "(1,1,1,1,1)",
                             "(1,3)", "(-1,2)",    "(4,4,4,4)", "(1,1,6,5)",    "(6,2)",
                             "(3,3)", "(2,4,3,3)", "(5,)",      "(99999,9999)", "(2,3,4)"};
constexpr std::array kVersions{0, 700, 800, 903, 904, 905, 10000, 10500, 10600, 10901, 20000};
constexpr std::array kHoldsGraphs{"_CachedOp",
                                  "_CachedOpThreadSafe",
                                  "_foreach",
                                  "_while_loop",
                                  "_cond",
                                  "_sg_mkldnn_conv",
                                  "_sg_mkldnn_fully_connected",
                                  "_sg_mkldnn_selfatt_qk"};

class Mutation {
 public:
  explicit Mutation(std::minstd_rand& random) : random_(random) {}

  void once(ir::SavedGraph* graph) {
    if (graph->nodes.empty()) return add_variable(graph);
    ir::SavedNode& node = graph->nodes[below(graph->nodes.size())];
    if (!node.subgraphs.empty() && below(3) > 0)
      return once(&node.subgraphs[below(node.subgraphs.size())]);
    switch (below(16)) {
      case 0:
        if (node.op != "null") node.op = any_operator();
        return;
      case 1:
      case 2:
      case 3:
      case 4:
        return set(&node);
      case 5:
        if (!node.attrs.empty()) erase(&node.attrs);
        return;
      case 6:
        if (!node.inputs.empty()) node.inputs[below(node.inputs.size())] = wire(*graph);
        return;
      case 7:
        if (node.op != "null") node.inputs.push_back(wire(*graph));
        return;
      case 8:
        if (!node.inputs.empty()) erase(&node.inputs);
        return;
      case 9:
        graph->heads.push_back(wire(*graph));
        return;
      case 10:
        if (!graph->heads.empty()) erase(&graph->heads);
        return;
      case 11:
        return add_variable(graph);
      case 12:
        return add_reader(graph);
      case 13:
        return add_holder(graph);
      case 14:
        if (!node.subgraphs.empty()) erase(&node.subgraphs);
        graph->version = one_of(kVersions);
        return;
      default:
        node.control_deps.push_back(static_cast<int32_t>(below(graph->nodes.size())));
    }
  }

 private:
  std::size_t below(std::size_t end) { return random_() % end; }
  template <class T, std::size_t kCount>
  T one_of(const std::array<T, kCount>& list) {
    return list[below(kCount)];
  }
  template <class T>
  void erase(std::vector<T>* list) {
    list->erase(list->begin() + static_cast<std::ptrdiff_t>(below(list->size())));
  }

  ir::SavedEntry wire(const ir::SavedGraph& graph) {
    return {static_cast<int32_t>(below(graph.nodes.size())),
            below(4) == 0 ? static_cast<int32_t>(below(4)) : 0, 0};
  }
  std::string any_operator() {
    uint32_t count = 0;
    const char** names = nullptr;
    MXListAllOpNames(&count, &names);
    return names[below(count)];
  }
  // The name of a parameter of the operator.
  std::string parameter(const std::string& op) {
    OpHandle handle = nullptr;
    const char *name = nullptr, *doc = nullptr, *counter = nullptr, *result = nullptr;
    uint32_t count = 0;
    const char **names = nullptr, **types = nullptr, **docs = nullptr;
    if (NNGetOpHandle(op.c_str(), &handle) != 0 ||
        MXSymbolGetAtomicSymbolInfo(handle, &name, &doc, &count, &names, &types, &docs, &counter,
                                    &result) != 0)
      return "x";
    std::vector<const char*> own;
    for (uint32_t i = 0; i < count; ++i)
      if (!std::string_view(types[i]).starts_with("NDArray")) own.push_back(names[i]);
    return own.empty() ? "num_args" : own[below(own.size())];
  }
  static void put(ir::SavedNode* node, const std::string& key, const std::string& value) {
    for (auto& [known, text] : node->attrs) {
      if (known != key) continue;
      text = value;
      return;
    }
    node->attrs.emplace_back(key, value);
  }
  void set(ir::SavedNode* node) {
    if (node->op == "null") {
      if (below(4) > 0) return put(node, "__shape__", one_of(kShapes));
      return put(node, below(2) > 0 ? "__dtype__" : "__storage_type__", std::to_string(below(9)));
    }
    const bool known = !node->attrs.empty() && below(2) > 0;
    const std::string key =
        known ? node->attrs[below(node->attrs.size())].first : parameter(node->op);
    put(node, key, one_of(kValues));
  }

  void add_variable(ir::SavedGraph* graph) {
    const auto number = static_cast<int32_t>(graph->nodes.size());
    ir::SavedNode variable;
    variable.op = "null";
    variable.name = "v" + std::to_string(number);
    variable.attrs = {{"__shape__", one_of(kShapes)}};
    graph->nodes.push_back(std::move(variable));
    graph->arg_nodes.push_back(number);
    graph->heads.push_back({number, 0, 0});
  }
  // An operator on what there is.
  void add_reader(ir::SavedGraph* graph) {
    ir::SavedNode node;
    node.op = any_operator();
    node.name = "r" + std::to_string(graph->nodes.size());
    for (std::size_t i = below(4); i > 0; --i) node.inputs.push_back(wire(*graph));
    for (std::size_t i = below(3); i > 0; --i) set(&node);
    push_node(graph, std::move(node));
  }
  // The graph itself as what a node of it carries.
  void add_holder(ir::SavedGraph* graph) {
    if (graph->nodes.size() > 30) return;
    ir::SavedNode node;
    node.op = one_of(kHoldsGraphs);
    node.name = "h" + std::to_string(graph->nodes.size());
    for (std::size_t i = graph->arg_nodes.size(); i > 0; --i) node.inputs.push_back(wire(*graph));
    for (std::size_t i = 1 + below(3); i > 0; --i) node.subgraphs.push_back(*graph);
    for (std::size_t i = below(4); i > 0; --i) set(&node);
    push_node(graph, std::move(node));
  }
  static void push_node(ir::SavedGraph* graph, ir::SavedNode node) {
    graph->heads.push_back({static_cast<int32_t>(graph->nodes.size()), 0, 0});
    graph->nodes.push_back(std::move(node));
  }

  std::minstd_rand& random_;
};

}  // namespace

void mutate(ir::SavedGraph* graph, std::minstd_rand& random) {
  Mutation mutation(random);
  for (std::size_t changes = 1 + random() % 4; changes > 0; --changes) mutation.once(graph);
}

}  // namespace mxnet::c_test
