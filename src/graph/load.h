// SPDX-License-Identifier: Apache-2.0
// Symbols in files: "-symbol.json" of every version in, the current one out.
#pragma once
#include <string>
#include <string_view>

#include "graph/symbol.h"
#include "ir/saved_graph.h"

namespace mxnet {

// The version that saved files carry: what the format's readers go by.
inline constexpr int kSymbolFileVersion = 10901;

// Throws Error(kValue) naming the node for operators and parameters that do not exist, and where
// the text is at fault.
Symbol load_symbol(std::string_view json);
Symbol load_symbol_file(const std::string& path);  // also Error(kGeneric) where it cannot be read

std::string save_symbol(const Symbol& symbol);

// The same without the text, for those who hold a graph as names and numbers. REQUIRES: what
// parse_saved_graph checks: numbers of nodes that are there, no cycles.
Symbol symbol_of_saved(ir::SavedGraph saved);
ir::SavedGraph saved_of_symbol(const Symbol& symbol);
void save_symbol_file(const Symbol& symbol, const std::string& path);

}  // namespace mxnet
