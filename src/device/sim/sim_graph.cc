// SPDX-License-Identifier: Apache-2.0
// Replaying tasks.
#include "device/sim/sim_graph.h"

#include <fmt/format.h>

#include <fstream>

#include "base/error.h"

namespace mxnet {
namespace {
constexpr uint64_t kPrime = 1099511628211;  // of FNV
}  // namespace

bool SimGraph::update(SimGraph* newer) {
  if (newer->nodes() != nodes()) return false;
  tasks_.swap(newer->tasks_);
  return true;
}

bool SimGraph::arguments(GraphArguments* into) const {
  *into = {};
  const auto mix = [&](std::size_t value) { into->calls = (into->calls ^ value) * kPrime; };
  for (const SimStream::Recorded& recorded : *tasks_) {
    if (!recorded.transfer) return false;
    const SimTransfer& it = *recorded.transfer;
    if (it.to == SimTransfer::kHost || it.from == SimTransfer::kHost) return false;
    for (const int32_t number : {it.to, it.from, it.value}) mix(static_cast<std::size_t>(number));
    mix(it.bytes);
    for (const void* data : {static_cast<const void*>(it.to_data), it.from_data})
      into->words.push_back(reinterpret_cast<uintptr_t>(data));
  }
  return true;
}

bool SimGraph::give(const GraphArguments& given) {
  GraphArguments mine;
  if (!arguments(&mine) || mine.calls != given.calls) return false;
  auto tasks = std::make_shared<Tasks>();  // launches under way have the others
  const uint64_t* word = given.words.data();
  for (const SimStream::Recorded& recorded : *tasks_) {
    SimTransfer transfer = *recorded.transfer;
    transfer.to_data = reinterpret_cast<void*>(*word++);
    transfer.from_data = reinterpret_cast<const void*>(*word++);
    tasks->push_back({transfer, transfer});
  }
  tasks_ = std::move(tasks);
  return true;
}

void SimGraph::launch(SimStream& stream) const {
  stream.push([tasks = tasks_] {
    for (SimStream::Recorded& recorded : *tasks) recorded.task();
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
