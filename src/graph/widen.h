// SPDX-License-Identifier: Apache-2.0
// Networks in half types that the CPU has no arithmetic for.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "graph/indexed_graph.h"
#include "op/infer.h"

namespace mxnet {

// Layers on arrays of a half type for which `lacks` holds, and what lies between them, compute in
// float32: what comes in is converted once, and results go back to their type where they leave, so
// that every variable, state and output keeps its own. Values between are not rounded to the half
// type; amp_cast to it and back is left out. Layers are what gains; operators that are
// not in the table of widen.cc, or that draw random numbers, stay as they are, between conversions.
// `types` is complete.
ir::Graph widen_half_types(const IndexedGraph& graph, const std::vector<ArrayType>& types,
                           bool training, const std::function<bool(DType)>& lacks);

// The names in the table, for tests.
std::span<const char* const> widened_layers();
std::span<const char* const> widened_between();

}  // namespace mxnet
