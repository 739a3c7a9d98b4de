// SPDX-License-Identifier: Apache-2.0
// Inference as users ask for it: by the names of arguments, with what variables say of themselves.
#pragma once
#include <string_view>
#include <vector>

#include "graph/indexed_graph.h"
#include "graph/symbol.h"
#include "op/infer.h"

namespace mxnet {

// What the caller knows. By name, or without names by position among the arguments.
struct KnownTypes {
  std::vector<std::string_view> names;
  std::vector<ArrayType> types;
};

struct SymbolTypes {
  std::vector<ArrayType> arguments, outputs, auxiliary;
  bool shapes_complete = false, dtypes_complete = false;  // of all values, inner ones too
};

// `zero_is_known`: what 0 means in the shapes of variables' attributes (NumPy semantics); otherwise
// it stands for an unknown dimension, and an empty shape for an unknown one. Throws Error(kValue)
// for names that are no argument or state, and where known parts differ.
SymbolTypes infer_symbol(const Symbol& symbol, const KnownTypes& known, bool zero_is_known);

// The same by entry, for passes.
std::vector<ArrayType> infer_entries(const IndexedGraph& graph, const KnownTypes& known,
                                     bool zero_is_known);

// The shape with 0 as "unknown".
Shape zero_as_unknown(Shape shape);

}  // namespace mxnet
