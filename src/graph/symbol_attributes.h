// SPDX-License-Identifier: Apache-2.0
// Attributes of nodes: parameters of operators, and free ones of the form __key__ of which a few
// are so old that users know them without the underscores.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/symbol.h"

namespace mxnet {

// The key with which a bare hidden key is stored ("__lr_mult__" for "lr_mult"), else empty.
std::string stored_key(std::string_view key);
// If `key` is INPUT_HIDDEN ("weight_lr_mult"): the length of INPUT, else 0.
std::size_t input_key_prefix(std::string_view key);

// Hidden keys as they are stored. Throws Error(kValue) for INPUT_HIDDEN, which only old files have.
Attrs with_hidden_keys(Attrs attrs);

// Reads the node's attributes with its operator's parser. A number of inputs that is not known yet
// counts as one. Throws what the parser throws, and leaves the node as it was.
void parse_node(ir::Node* node);

const std::string* find_attr(const ir::Node& node, std::string_view key);
void set_attr(ir::Node* node, std::string key, std::string value);

// Of the one node behind the outputs; "name" is its name, "op_name" its operator's as files have it
// ("null" for a variable). Bare hidden keys are found. Nothing where there is none, or outputs of
// several nodes.
std::optional<std::string> get_attr(const Symbol& symbol, std::string_view key);
// Throws Error(kValue) for outputs of several nodes and for what the operator does not take.
void set_attrs(Symbol* symbol, const Attrs& attrs);

struct ListedAttr {
  const ir::Node* node;
  std::string key, value;
};
enum class BareKeys : bool { kNo, kYes };
// Of all nodes, in topological order; with kYes, hidden keys bare as well.
std::vector<ListedAttr> list_attrs(const Symbol& symbol, BareKeys bare);
// Of the node of the first output only.
std::vector<ListedAttr> list_attrs_shallow(const Symbol& symbol, BareKeys bare);

}  // namespace mxnet
