// SPDX-License-Identifier: Apache-2.0
// JSON to SavedGraph, with the checks that hold for every version.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "ir/json_reader.h"
#include "ir/saved_graph.h"

namespace mxnet::ir {
namespace {

constexpr std::string_view kTag = "symbol file";
// Graphs inside graphs; control flow in control flow needs a handful.
constexpr int kMaxNesting = 64;

void set_attr(SavedNode* node, std::string_view key, std::string_view value) {
  // Lists are short; a duplicate replaces, as it always did.
  for (auto& [known, text] : node->attrs) {
    if (known != key) continue;
    text = value;
    return;
  }
  node->attrs.emplace_back(key, value);
}

class GraphParser {
 public:
  explicit GraphParser(std::string_view json) : reader_(json, kTag) {}

  SavedGraph graph(int nesting) {
    if (nesting > kMaxNesting) reader_.fail("graphs nested less deeply");
    SavedGraph graph;
    bool nodes = false, arg_nodes = false, heads = false;
    reader_.begin('{');
    while (reader_.more('}')) {
      const std::string_view key = reader_.key();
      if (key == "nodes") {
        nodes = true;
        read_nodes(nesting, &graph.nodes);
      } else if (key == "arg_nodes") {
        arg_nodes = true;
        graph.arg_nodes = numbers();
      } else if (key == "node_row_ptr") {
        graph.node_row_ptr = numbers();
      } else if (key == "heads") {
        heads = true;
        graph.heads = entries();
      } else if (key == "attrs") {
        read_graph_attrs(&graph.version);
      } else {
        reader_.fail("nodes, arg_nodes, node_row_ptr, heads or attrs as the member just read");
      }
    }
    if (!nodes || !arg_nodes || !heads) reader_.fail("nodes, arg_nodes and heads in a graph");
    check(graph);
    return graph;
  }

 private:
  int32_t number() {
    const int64_t value = reader_.integer();
    if (value < 0 || value > std::numeric_limits<int32_t>::max())
      reader_.fail("a number from 0 to 2^31 - 1");
    return static_cast<int32_t>(value);
  }

  std::vector<int32_t> numbers() {
    std::vector<int32_t> list;
    reader_.begin('[');
    while (reader_.more(']')) list.push_back(number());
    return list;
  }

  // [node, output] or [node, output, version].
  std::vector<SavedEntry> entries() {
    std::vector<SavedEntry> list;
    reader_.begin('[');
    while (reader_.more(']')) {
      int32_t fields[3] = {0, 0, 0};
      int count = 0;
      reader_.begin('[');
      while (reader_.more(']')) {
        if (count == 3) reader_.fail("two or three numbers");
        fields[count++] = number();
      }
      if (count < 2) reader_.fail("two or three numbers");
      list.push_back({fields[0], fields[1], fields[2]});
    }
    return list;
  }

  void read_nodes(int nesting, std::vector<SavedNode>* nodes) {
    nodes->clear();
    reader_.begin('[');
    while (reader_.more(']')) read_node(nesting, &nodes->emplace_back());
  }

  void read_node(int nesting, SavedNode* node) {
    bool op = false, name = false, inputs = false;
    reader_.begin('{');
    while (reader_.more('}')) {
      const std::string_view key = reader_.key();
      if (key == "op") {
        op = true;
        node->op = reader_.string();
      } else if (key == "name") {
        name = true;
        node->name = reader_.string();
      } else if (key == "inputs") {
        inputs = true;
        node->inputs = entries();
      } else if (key == "attrs" || key == "attr" || key == "param") {
        read_attrs(node);
      } else if (key == "control_deps") {
        node->control_deps = numbers();
      } else if (key == "subgraphs") {
        node->subgraphs.clear();
        reader_.begin('[');
        while (reader_.more(']')) node->subgraphs.push_back(graph(nesting + 1));
      } else if (key == "backward_source_id") {
        reader_.integer();  // of versions that saved backward nodes; always -1 in files
      } else {
        reader_.fail("op, name, attrs, inputs, control_deps or subgraphs as the member just read");
      }
    }
    if (!op || !name || !inputs) reader_.fail("op, name and inputs in a node");
  }

  void read_attrs(SavedNode* node) {
    std::string key;
    reader_.begin('{');
    while (reader_.more('}')) {
      key = reader_.key();
      set_attr(node, key, reader_.string());
    }
  }

  // Each value is [type, value]; only the version matters.
  void read_graph_attrs(std::optional<int32_t>* version) {
    reader_.begin('{');
    while (reader_.more('}')) {
      if (reader_.key() != "mxnet_version") {
        reader_.skip_value();
        continue;
      }
      reader_.begin('[');
      if (!reader_.more(']') || reader_.string() != "int" || !reader_.more(']'))
        reader_.fail("[\"int\", number]");
      *version = number();
      if (reader_.more(']')) reader_.fail("']'");
    }
  }

  static void complain(const std::string& what) { throw Error(ErrorCode::kValue, kTag, what); }

  static void check(const SavedGraph& graph) {
    const auto count = static_cast<int32_t>(graph.nodes.size());
    const auto check_number = [&](int32_t number, const char* who, std::string_view name) {
      if (number < count) return;
      complain(fmt::format("given node {} as {} {}, expected a number below {}", number, who, name,
                           count));
    };
    for (const SavedNode& node : graph.nodes) {
      for (const SavedEntry& input : node.inputs)
        check_number(input.node, "an input of", node.name);
      for (int32_t dep : node.control_deps) check_number(dep, "a dependency of", node.name);
      if (node.op == "null" && !node.inputs.empty())
        complain(fmt::format("given inputs of the variable {}, expected none", node.name));
    }
    for (const SavedEntry& head : graph.heads) check_number(head.node, "a head", "");
    for (int32_t arg : graph.arg_nodes) {
      check_number(arg, "an argument", "");
      if (graph.nodes[static_cast<std::size_t>(arg)].op != "null")
        complain(fmt::format("given node {} as an argument, expected a variable", arg));
    }
    check_acyclic(graph.nodes);
  }

  // Nodes need not be in order: takes away, again and again, those whose inputs are gone.
  static void check_acyclic(const std::vector<SavedNode>& nodes) {
    bool ordered = true;
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      const auto earlier = [n](int32_t other) { return static_cast<std::size_t>(other) < n; };
      for (const SavedEntry& input : nodes[n].inputs) ordered &= earlier(input.node);
      for (int32_t dep : nodes[n].control_deps) ordered &= earlier(dep);
    }
    if (ordered) return;
    std::vector<std::vector<std::size_t>> readers(nodes.size());
    std::vector<std::size_t> waiting(nodes.size()), ready;
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      waiting[n] = nodes[n].inputs.size() + nodes[n].control_deps.size();
      for (const SavedEntry& input : nodes[n].inputs)
        readers[static_cast<std::size_t>(input.node)].push_back(n);
      for (int32_t dep : nodes[n].control_deps) readers[static_cast<std::size_t>(dep)].push_back(n);
      if (waiting[n] == 0) ready.push_back(n);
    }
    std::size_t done = 0;
    for (; !ready.empty(); ++done) {
      const std::size_t n = ready.back();
      ready.pop_back();
      for (std::size_t reader : readers[n])
        if (--waiting[reader] == 0) ready.push_back(reader);
    }
    if (done == nodes.size()) return;
    const auto stuck = std::find_if(waiting.begin(), waiting.end(), [](auto w) { return w > 0; });
    complain(fmt::format("given a cycle, node {} depends on itself, expected none",
                         nodes[static_cast<std::size_t>(stuck - waiting.begin())].name));
  }

  JsonReader reader_;
};

}  // namespace

SavedGraph parse_saved_graph(std::string_view json) { return GraphParser(json).graph(0); }

}  // namespace mxnet::ir
