// SPDX-License-Identifier: Apache-2.0
// Groups of nodes, and values that cross from one device to another.
#include "exec/placement.h"

#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "exec/autograd_state.h"
#include "exec/imperative.h"
#include "exec/tape.h"
#include "graph/symbol_attributes.h"

namespace mxnet {
namespace {

// `to` holds what `from` does: gradients of it are gradients of `from`.
void record_move(NDArray& from, NDArray& to) {
  if (!autograd_state().recording || !wants_gradient(from)) return;
  const std::array<NDArray*, 1> inputs{&from}, outputs{&to};
  record_function(
      [home = from.device()](std::vector<NDArray> grads, std::span<const NDArray>) {
        return std::vector<NDArray>{moved_to(grads[0], home)};
      },
      inputs, outputs);
}

}  // namespace

Device device_of(const ir::Node& node, const DeviceGroups& groups, Device device) {
  if (groups.empty()) return device;
  const std::string* group = find_attr(node, "__ctx_group__");
  if (group == nullptr) return device;
  const auto found = groups.find(*group);
  if (found != groups.end()) return found->second;
  std::vector<std::string_view> known;
  for (const auto& [name, place] : groups) known.push_back(name);
  throw Error(ErrorCode::kValue, node.name,
              fmt::format("given group '{}', expected one that group2ctx names: {}", *group,
                          fmt::join(known, ", ")));
}

bool spans_devices(const IndexedGraph& graph, const DeviceGroups& groups, Device device) {
  for (int n = 0; n < graph.num_nodes(); ++n)
    if (!same_place(device_of(graph.node(n), groups, device), device)) return true;
  return false;
}

NDArray moved_to(NDArray& array, Device device) {
  if (same_place(array.device(), device)) return array;
  NDArray copy = array.copy(device);
  record_move(array, copy);
  return copy;
}

bool on_two_devices(const NDArray& a, const NDArray& b) {
  return !same_place(a.device(), b.device());
}

void copy_across(NDArray& from, NDArray& to) {
  if (from.dtype() == to.dtype() && from.storage_type() == to.storage_type()) {
    from.copy_to(to);
    return record_move(from, to);
  }
  // Devices move bytes; what converts them is an operator, and runs at one end.
  NDArray moved = moved_to(from, to.device());
  const OpDef& op = Registry::get().at("_copyto");
  const std::array<NDArray*, 1> inputs{&moved}, outputs{&to};
  imperative_invoke(parse_attrs(op, {}), inputs, outputs);
}

}  // namespace mxnet
