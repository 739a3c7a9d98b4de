// SPDX-License-Identifier: Apache-2.0
// What the nodes of a recorded graph were given, as words that can be read and written: parameters
// of kernels, places of copies and fills within devices.
#pragma once
#include <cuda_runtime_api.h>

#include "device/graph_capture.h"

namespace mxnet::cuda {

// See GraphCapture. The second leaves the graph half written where the driver refuses a node.
bool read_arguments(cudaGraph_t graph, GraphArguments* arguments);
bool write_arguments(cudaGraph_t graph, const GraphArguments& arguments);

}  // namespace mxnet::cuda
