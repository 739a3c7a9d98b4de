// SPDX-License-Identifier: Apache-2.0
// Steps from older versions of saved symbols.
#include "graph/upgrade.h"

#include <algorithm>

#include "graph/load.h"
#include "graph/symbol_attributes.h"
#include "graph/symbol_node.h"
#include "op/op_def.h"

namespace mxnet {

std::vector<std::pair<std::string, std::string>> take_hidden_keys(int version,
                                                                  ir::SavedNode* node) {
  std::vector<std::pair<std::string, std::string>> hidden;
  if (version >= kSymbolFileVersion) return hidden;
  const auto is_hidden = [](const auto& attr) {
    return !stored_key(attr.first).empty() || input_key_prefix(attr.first) > 0;
  };
  const auto first =
      std::stable_partition(node->attrs.begin(), node->attrs.end(), std::not_fn(is_hidden));
  hidden.assign(std::make_move_iterator(first), std::make_move_iterator(node->attrs.end()));
  node->attrs.erase(first, node->attrs.end());
  return hidden;
}

void restore_hidden_keys(const std::vector<std::pair<std::string, std::string>>& hidden,
                         ir::Node* node) {
  for (const auto& [key, value] : hidden) {
    if (const std::size_t prefix = input_key_prefix(key); prefix > 0 && !node->is_variable()) {
      // "weight_lr_mult" of an operator is "__lr_mult__" of its variable "weight". Where that input
      // is no variable the key never had an effect.
      const std::string_view input = std::string_view(key).substr(0, prefix);
      for (std::size_t i = 0; i < node->inputs.size(); ++i) {
        if (node->inputs[i].node->is_variable() && input_name(*node, static_cast<int>(i)) == input)
          set_attr(node->inputs[i].node.get(), stored_key(key.substr(prefix + 1)), value);
      }
      continue;
    }
    std::string stored = stored_key(key);
    set_attr(node, stored.empty() ? key : stored, value);
  }
}

void upgrade_attributes(int version, ir::SavedNode* node) {
  // -1 was the default, and has since become the last axis.
  if (version < 905 && (node->op == "argmin" || node->op == "argmax"))
    std::erase(node->attrs, std::pair<std::string, std::string>("axis", "-1"));
  // Layers with what follows them said which activation it is before there were others.
  if (version < 10600 && node->op.starts_with("_sg_mkldnn_")) {
    const bool rows = node->op.ends_with("fully_connected");
    for (auto& [key, value] : node->attrs) {
      if (key == "with_relu") key = rows ? "with_eltwise" : "with_act";
      if (key == "with_postsum_relu") key = "with_postsum_act";
    }
  }
}

void upgrade_inputs(int version, ir::Node* node) {
  if (node->is_variable()) return;
  // Auxiliary states were not part of the file.
  if (version < 900 && node->op->key_var_num_args().empty()) {
    const int expected = expected_inputs(*node);
    for (int i = static_cast<int>(node->inputs.size()); i < expected; ++i)
      node->inputs.push_back(variable_for_input(*node, input_name(*node, i)));
  }
  if (version < 904)
    for (std::size_t i = 0; i < node->inputs.size(); ++i) set_input_initializer(*node, i);
}

}  // namespace mxnet
