// SPDX-License-Identifier: Apache-2.0
// Groups of nodes, and values that cross from one device to another.
#include "exec/placement.h"

#include <array>

#include "exec/autograd_state.h"
#include "exec/backward.h"
#include "exec/tape.h"
#include "graph/symbol_attributes.h"

namespace mxnet {
namespace {

// Device numbers of CPUs tell nothing apart.
bool same_place(Device a, Device b) { return a.is_gpu() ? a == b : !b.is_gpu(); }

NDArray copy_on(const NDArray& array, Device device) {
  NDArray copy(array.shape(), array.dtype(), device, "moved");
  array.copy_to(copy);
  return copy;
}

}  // namespace

Device device_of(const ir::Node& node, const DeviceGroups& groups, Device device) {
  if (groups.empty()) return device;
  const std::string* group = find_attr(node, "__ctx_group__");
  if (group == nullptr) return device;
  const auto found = groups.find(*group);
  return found == groups.end() ? device : found->second;
}

bool spans_devices(const IndexedGraph& graph, const DeviceGroups& groups, Device device) {
  for (int n = 0; n < graph.num_nodes(); ++n)
    if (!same_place(device_of(graph.node(n), groups, device), device)) return true;
  return false;
}

NDArray moved_to(NDArray& array, Device device) {
  if (same_place(array.device(), device)) return array;
  NDArray copy = copy_on(array, device);
  if (!autograd_state().recording || !wants_gradient(array)) return copy;
  const std::array<NDArray*, 1> inputs{&array}, outputs{&copy};
  record_function(
      [home = array.device()](std::vector<NDArray> grads) {
        return std::vector<NDArray>{moved_to(grads[0], home)};
      },
      inputs, outputs);
  return copy;
}

}  // namespace mxnet
