// SPDX-License-Identifier: Apache-2.0
// Attributes of nodes.
#include "graph/symbol_attributes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "graph/subgraph_op.h"
#include "op/inline_vector.h"
#include "op/op_def.h"
#include "op/params/parsed_attrs.h"

namespace mxnet {
namespace {

constexpr std::string_view kHidden[] = {"ctx_group", "lr_mult", "wd_mult", "force_mirroring",
                                        "mirror_stage"};

std::string_view bare_key(std::string_view key) {
  for (const std::string_view hidden : kHidden) {
    if (key.size() == hidden.size() + 4 && key.starts_with("__") && key.ends_with("__") &&
        key.substr(2, hidden.size()) == hidden)
      return hidden;
  }
  return {};
}

void list_node(const ir::Node& node, BareKeys bare, std::vector<ListedAttr>* list) {
  for (const auto& [key, value] : node.attrs) {
    list->push_back({&node, key, value});
    const std::string_view hidden = bare_key(key);
    if (bare == BareKeys::kYes && !hidden.empty())
      list->push_back({&node, std::string(hidden), value});
  }
}

}  // namespace

std::string stored_key(std::string_view key) {
  for (const std::string_view hidden : kHidden)
    if (key == hidden) return fmt::format("__{}__", key);
  return {};
}

std::size_t input_key_prefix(std::string_view key) {
  for (const std::string_view hidden : kHidden) {
    if (key.size() > hidden.size() + 1 && key.ends_with(hidden) &&
        key[key.size() - hidden.size() - 1] == '_' && bare_key(key).empty())
      return key.size() - hidden.size() - 1;
  }
  return 0;
}

Attrs with_hidden_keys(Attrs attrs) {
  for (auto& [key, value] : attrs) {
    if (const std::size_t prefix = input_key_prefix(key); prefix > 0) {
      throw Error(ErrorCode::kValue, "symbol",
                  fmt::format("given attribute {} for input {}, expected the attribute on that "
                              "variable: Variable(..., {}={})",
                              key, key.substr(0, prefix), key.substr(prefix + 1), value));
    }
    if (std::string stored = stored_key(key); !stored.empty()) key = std::move(stored);
  }
  return attrs;
}

void parse_node(ir::Node* node) {
  if (node->is_variable()) return;
  const std::string& count_key = node->op->key_var_num_args();
  InlineVector<std::pair<std::string_view, std::string_view>, 12> texts;
  bool counted = count_key.empty();
  for (const auto& [key, value] : node->attrs) {
    texts.emplace_back(key, value);
    counted = counted || key == count_key;
  }
  if (!counted) texts.emplace_back(count_key, "1");
  ParamsPtr params = parse_attrs(*node->op, texts.span())->params();
  node->params = node->subgraphs().empty()
                     ? std::move(params)
                     : params_with_subgraphs(*node->op, params, node->subgraphs());
}

const std::string* find_attr(const ir::Node& node, std::string_view key) {
  for (const auto& [known, value] : node.attrs)
    if (known == key) return &value;
  return nullptr;
}

void set_attr(ir::Node* node, std::string key, std::string value) {
  for (auto& [known, text] : node->attrs) {
    if (known != key) continue;
    text = std::move(value);
    return;
  }
  node->attrs.emplace_back(std::move(key), std::move(value));
}

std::optional<std::string> get_attr(const Symbol& symbol, std::string_view key) {
  if (key == "_value_index") {  // which outputs of their nodes the symbol is made of
    std::vector<int32_t> indices;
    for (const ir::Entry& output : symbol.outputs()) indices.push_back(output.index);
    return fmt::format("{}", fmt::join(indices, ", "));
  }
  const ir::Node* node = symbol.node();
  if (node == nullptr) return std::nullopt;
  if (key == "name") return node->name;
  if (key == "op_name") return node->is_variable() ? "null" : std::string(node->op->name());
  const std::string* value = find_attr(*node, key);
  if (value == nullptr)
    if (const std::string stored = stored_key(key); !stored.empty())
      value = find_attr(*node, stored);
  return value == nullptr ? std::nullopt : std::optional<std::string>(*value);
}

void set_attrs(Symbol* symbol, const Attrs& attrs) {
  ir::Node* node = symbol->node();
  if (node == nullptr) {
    throw Error(ErrorCode::kValue, "symbol",
                "given attributes for outputs of several nodes, expected those of one node");
  }
  const std::string name = node->name;
  const Attrs before = node->attrs;
  try {
    for (auto& [key, value] : with_hidden_keys(attrs)) {
      if (key == "name") {
        node->name = value;
      } else {
        set_attr(node, key, value);
      }
    }
    parse_node(node);
  } catch (...) {
    node->name = name;
    node->attrs = before;
    throw;
  }
}

std::vector<ListedAttr> list_attrs(const Symbol& symbol, BareKeys bare) {
  std::vector<ListedAttr> list;
  for (const ir::Node* node : ir::topological_order(symbol.outputs()))
    list_node(*node, bare, &list);
  return list;
}

std::vector<ListedAttr> list_attrs_shallow(const Symbol& symbol, BareKeys bare) {
  std::vector<ListedAttr> list;
  if (!symbol.outputs().empty()) list_node(*symbol.outputs()[0].node, bare, &list);
  return list;
}

}  // namespace mxnet
