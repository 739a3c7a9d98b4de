// SPDX-License-Identifier: Apache-2.0
// Passes over conversions of types.
#pragma once
#include <vector>

#include "graph/indexed_graph.h"
#include "op/infer.h"

namespace mxnet {

// Cast or amp_cast.
bool is_cast(const ir::Node& node);

// Without the conversions that mixed precision has inserted (amp_cast, amp_multicast), but for
// those of results, which keep their names and types.
ir::Graph remove_amp_casts(const ir::Graph& graph);

// Without conversions that give back what they were given: to the type that values have, or in a
// pair, to a type that holds every value of the first, and back. `types` holds what is known of
// each entry of `graph`. MXNET_DISABLE_REMOVE_CASTS_PROPERTY keeps them.
ir::Graph remove_cast_pairs(const IndexedGraph& graph, const std::vector<ArrayType>& types);

}  // namespace mxnet
