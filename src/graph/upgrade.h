// SPDX-License-Identifier: Apache-2.0
// What older versions saved differently, as steps on the node that is being loaded.
#pragma once
#include <utility>
#include <vector>

#include "ir/node.h"
#include "ir/saved_graph.h"

namespace mxnet {

// The file's version; files without one are as old as 0.8.
inline constexpr int kOldestVersion = 800;

// Takes what the operator's parser would not understand out of `node`: hidden keys, and keys for
// inputs. To be given back with restore_hidden_keys once the node has its inputs.
std::vector<std::pair<std::string, std::string>> take_hidden_keys(int version, ir::SavedNode* node);
void restore_hidden_keys(const std::vector<std::pair<std::string, std::string>>& hidden,
                         ir::Node* node);

// Before the node's attributes are parsed.
void upgrade_attributes(int version, ir::SavedNode* node);
// After parsing: inputs that files of the time did not name, and their initializers.
void upgrade_inputs(int version, ir::Node* node);

}  // namespace mxnet
