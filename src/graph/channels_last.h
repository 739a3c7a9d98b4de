// SPDX-License-Identifier: Apache-2.0
// Images whose channels come last inside of a graph for a GPU, whatever order its inputs and
// outputs have: cuDNN's kernels for tensor cores read them that way, and turn others for each
// convolution.
#pragma once
#include <cstdint>
#include <vector>

#include "graph/indexed_graph.h"
#include "op/infer.h"

namespace mxnet {

// What speaks for a convolution of `dtype` with so many channels of a group: tensor cores take half
// types, in packs of eight channels.
bool wants_channels_last(DType dtype, int64_t image_channels, int64_t map_channels);

// Bytes that go through memory only to be turned: by cuDNN, if every value stays as it is, and by
// transpositions where turned values meet others.
struct TurnedBytes {
  int64_t by_library = 0, at_borders = 0;
  bool pays() const { return at_borders < by_library; }
};

// The graph with convolutions of images of half types and their gradients, and what lies between
// them, turned (pooling, normalisation, concatenation, pointwise operators); the graph as it is
// where that does not pay. `types` holds a complete type for each entry. Deterministic; the graph
// given is not changed.
ir::Graph with_channels_last(const IndexedGraph& graph, const std::vector<ArrayType>& types);

}  // namespace mxnet
