// SPDX-License-Identifier: Apache-2.0
// Taking the body of a loop or branch out of the network in which it was written.
#pragma once
#include <vector>

#include "graph/symbol.h"

namespace mxnet {

// The nodes with the same __subgraph_name__ as the first output are the body. What they read of
// others, variables too, becomes variables of these values' names, in place; the values come out,
// in the order in which the body reads them first. Nothing happens to outputs without that
// attribute.
std::vector<Symbol> cut_subgraph(Symbol* body);

}  // namespace mxnet
