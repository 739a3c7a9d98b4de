// SPDX-License-Identifier: Apache-2.0
// Which device each operator of a graph runs on, where groups of operators are bound to devices.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "graph/indexed_graph.h"
#include "ndarray/ndarray.h"

namespace mxnet {

// By the name of the group: the attribute __ctx_group__ of a node.
using DeviceGroups = std::map<std::string, Device>;

// Operators of one reach the other's arrays. Device numbers of CPUs tell nothing apart.
inline bool same_place(Device a, Device b) { return a.is_gpu() ? a == b : !b.is_gpu(); }
// Where a node of a group belongs; `device` for all others.
Device device_of(const ir::Node& node, const DeviceGroups& groups, Device device);
// Some node belongs elsewhere than the CPU, or the one GPU, that `device` is.
bool spans_devices(const IndexedGraph& graph, const DeviceGroups& groups, Device device);

// The array itself if operators on `device` can read it, else a copy there. Under the thread's
// autograd switches: gradients find their way back.
NDArray moved_to(NDArray& array, Device device);
// One of the two is on a GPU that is not the other's device.
bool on_two_devices(const NDArray& a, const NDArray& b);
// Copies between two devices, of types and layouts that may differ. Gradients find their way back.
void copy_across(NDArray& from, NDArray& to);

}  // namespace mxnet
