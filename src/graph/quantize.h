// SPDX-License-Identifier: Apache-2.0
// Networks in 8-bit integers: nodes that have a quantized form take it, and what goes in and out of
// them is converted.
#pragma once
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"

namespace mxnet {

struct QuantizeOptions {
  std::set<std::string, std::less<>> excluded_nodes, excluded_operators;  // by name: stay real
  // Variables that come quantized, as NAME_quantize with its ends NAME_quantize_min and
  // NAME_quantize_max.
  std::set<std::string, std::less<>> offline;
  std::string dtype = "int8";  // of data: int8, uint8, or auto (by the calibrated range)
  // Operators that merely pass integers on (pooling, relu, sums ...) are quantized only between two
  // that gain by it, convolutions and fully connected layers.
  bool smart = false;
  bool channel_wise = false;  // weights of fused layers have a range for each channel
};

struct QuantizedGraph {
  ir::Graph graph;
  // Values of the original network whose ranges make the quantized one faster: NODE_output, or a
  // variable's name. In the order of the quantized graph.
  std::vector<std::string> to_calibrate;
};

// Deterministic and linear; the graph given is not changed.
QuantizedGraph quantize_graph(const ir::Graph& graph, const QuantizeOptions& options);

// Of a value, by the names of `to_calibrate`.
struct CalibratedRange {
  std::string name;
  float min, max;
};
// The quantized network with these ranges in its nodes. Those of values that it does not have are
// left out.
ir::Graph with_ranges(const ir::Graph& graph, const std::vector<CalibratedRange>& ranges);

}  // namespace mxnet
