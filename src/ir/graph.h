// SPDX-License-Identifier: Apache-2.0
// A graph as data: the values that somebody wants. Everything else hangs behind them.
#pragma once
#include <span>
#include <vector>

#include "ir/node.h"

namespace mxnet::ir {

struct Graph {
  std::vector<Entry> outputs;
};

// All nodes behind `outputs`, each once and after its inputs: depth first from the first output on,
// inputs in order. This is the order of saved files, of argument lists and of execution. Neither
// recursive nor bound to Node::scratch, so that threads may order graphs that share nodes.
std::vector<Node*> topological_order(std::span<const Entry> outputs);

}  // namespace mxnet::ir
