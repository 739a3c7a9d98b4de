// SPDX-License-Identifier: Apache-2.0
// The frame of passes that replace values: nodes are visited once, after their inputs, and only
// what changes is copied.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace mxnet {

// What stands for each output of a node from now on; nothing keeps the node.
using Replacement = std::optional<std::vector<ir::Entry>>;

// `replace` sees a node whose inputs are replaced already; it may be a copy of `original`.
// Deterministic; linear in the size of the graph. The graph given is not changed.
ir::Graph rewrite(
    const ir::Graph& graph,
    const std::function<Replacement(const ir::Node& original, const Ref<ir::Node>& node)>& replace);

// For whoever copies nodes: `node`, a copy, waits for what stands now for the nodes that it waited
// for.
void renew_control_deps(ir::Node* node,
                        const std::function<Ref<ir::Node>(const Ref<ir::Node>&)>& stands_now);

}  // namespace mxnet
