// SPDX-License-Identifier: Apache-2.0
// Rules about one node that composing, loading and upgrading share.
#pragma once
#include <string>
#include <string_view>

#include "ir/node.h"

namespace mxnet {

class OpDef;

// A variable of a symbol. Anything else that has no operator counts as never written.
struct VariableNode final : ir::Node {
  // Nodes composed so far that write it: the Entry::version of the next reader.
  int32_t mutations = 0;
};
int32_t mutations_of(const ir::Node& node);

// Arguments of an operator that are graphs, not arrays: they come first, and a node keeps them as
// its subgraphs.
int num_graph_args(const OpDef& op);

// Arrays that the node's operator takes with its parameters; graphs do not count. Throws
// Error(kValue) for more than any network needs: such a number comes from a damaged file.
int expected_inputs(const ir::Node& node);
std::string input_name(const ir::Node& node, int i);

// Throws Error(kValue) for a node without all of them: a damaged file, or an operator that has not
// been composed. `where` ends what the text says of them: " in a file".
void check_inputs(const ir::Node& node, std::string_view where = {});

// A variable NODE_INPUT with the node's attributes.
ir::Entry variable_for_input(const ir::Node& node, const std::string& input);
// The operator's initializer, on an input that is a variable without one.
void set_input_initializer(const ir::Node& node, std::size_t i);
// Counts the node's writes into variables: entries know which state of a variable they read.
void count_mutations(ir::Node* node);

}  // namespace mxnet
