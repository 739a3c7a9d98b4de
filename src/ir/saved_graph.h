// SPDX-License-Identifier: Apache-2.0
// A graph as it lies in a file ("-symbol.json"): names instead of operators, numbers instead of
// pointers. What the names mean, and what older versions meant, is not known here.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mxnet::ir {

// Output `index` of node number `node`.
struct SavedEntry {
  int32_t node = 0;
  int32_t index = 0;
  int32_t version = 0;
  bool operator==(const SavedEntry&) const = default;
};

struct SavedGraph;

struct SavedNode {
  std::string op;  // "null" = variable
  std::string name;
  std::vector<std::pair<std::string, std::string>> attrs;  // each key once
  std::vector<SavedEntry> inputs;
  std::vector<int32_t> control_deps;
  std::vector<SavedGraph> subgraphs;
};

struct SavedGraph {
  std::vector<SavedNode> nodes;
  std::vector<int32_t> arg_nodes;     // numbers of all variables
  std::vector<int32_t> node_row_ptr;  // sums of outputs, one more than nodes; not read
  std::vector<SavedEntry> heads;
  std::optional<int32_t> version;  // of the writer: major * 10000 + minor * 100 + patch
  int32_t numpy_shape = 0;         // the writer's mode of shapes; written with a version, not read
};

// Reads any version. Throws Error(kValue) with line and column for what is not JSON, or not such a
// graph: unknown members, nodes that are not there, cycles, graphs nested too deeply. Memory is a
// small multiple of the text's length.
SavedGraph parse_saved_graph(std::string_view json);

// The reference's layout, byte for byte; attributes are sorted by key.
std::string print_saved_graph(const SavedGraph& graph);

}  // namespace mxnet::ir
