// SPDX-License-Identifier: Apache-2.0
// Replaying tasks.
#include "device/sim/sim_graph.h"

#include <fmt/format.h>

#include <fstream>

#include "base/error.h"

namespace mxnet {

bool SimGraph::update(SimGraph* newer) {
  if (newer->nodes() != nodes()) return false;
  tasks_.swap(newer->tasks_);
  return true;
}

void SimGraph::launch(SimStream& stream) const {
  stream.push([tasks = tasks_] {
    for (SimStream::Task& task : *tasks) task();
  });
}

void SimGraph::print(const std::string& path, unsigned flags) const {
  std::ofstream file(path);
  file << "digraph simulated {  // flags " << flags << "\n";
  for (std::size_t i = 0; i < nodes(); ++i)
    file << (i == 0 ? fmt::format("  node{}\n", i) : fmt::format("  node{} -> node{}\n", i - 1, i));
  file << "}\n";
  file.close();
  if (!file) {
    throw Error(
        ErrorCode::kValue, "sim",
        fmt::format("given the path {} for a graph, expected one that can be written", path));
  }
}

}  // namespace mxnet
