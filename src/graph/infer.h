// SPDX-License-Identifier: Apache-2.0
// Shapes and types of all values of a graph, out of those of some.
#pragma once
#include <vector>

#include "graph/indexed_graph.h"
#include "op/infer.h"

namespace mxnet {

// Completes `types`, one per entry, which holds what is known. Goes through the nodes in both
// directions until nothing more can be learnt. True if everything is known in the end. Throws
// Error(kValue) naming the node, the operator and the shapes before it where known parts differ.
// Unless the calling thread has NumPy semantics, a 0 in the shape that an operator without inputs
// is given (zeros, ones) stands for an unknown dimension, as in the begin states of recurrent
// networks.
bool infer_graph(const IndexedGraph& graph, std::vector<ArrayType>* types);

}  // namespace mxnet
