// SPDX-License-Identifier: Apache-2.0
// How the values of a graph are stored, given how its variables are.
#pragma once
#include <map>
#include <span>
#include <vector>

#include "base/device.h"
#include "graph/indexed_graph.h"
#include "ndarray/storage_type.h"

namespace mxnet {

// By variable; those that are missing are dense.
using VariableStorage = std::map<const ir::Node*, StorageType>;

// What the variables say of themselves (the attribute __storage_type__). Throws Error(kValue) for
// what is no storage type.
VariableStorage told_storage(const IndexedGraph& graph);

// A storage type per entry.
std::vector<StorageType> infer_storage(const IndexedGraph& graph, const VariableStorage& variables,
                                       Device device);

// Of the gradients of these variables (numbers of nodes), where those of the outputs are as the
// outputs are. One that nothing flows to is as its variable.
// Throws Error(kValue) where such a gradient has to pass an operator that has none, unless nothing
// in the graph could be sparse.
std::vector<StorageType> gradient_storage(const IndexedGraph& graph, std::span<const int> variables,
                                          const VariableStorage& storage, Device device);

}  // namespace mxnet
