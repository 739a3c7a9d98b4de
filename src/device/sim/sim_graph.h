// SPDX-License-Identifier: Apache-2.0
// Graphs of the simulated accelerator: the tasks that a stream was given while it was capturing.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "device/graph_capture.h"
#include "device/sim/sim_stream.h"

namespace mxnet {

// What a NativeGraph of the simulator points to. Tasks may run any number of times, and are kept
// by the launches that are under way.
class SimGraph {
 public:
  using Tasks = std::vector<SimStream::Recorded>;

  explicit SimGraph(std::shared_ptr<Tasks> tasks) : tasks_(std::move(tasks)) {}

  static SimGraph* from(NativeGraph* graph) { return reinterpret_cast<SimGraph*>(graph); }
  NativeGraph* native() { return reinterpret_cast<NativeGraph*>(this); }

  std::size_t nodes() const { return tasks_->size(); }
  // As on hardware: only with as many nodes as there are.
  bool update(SimGraph* newer);
  // Copies and fills between devices are seen, kernels are functions of which nothing is known.
  bool arguments(GraphArguments* into) const;
  bool give(const GraphArguments& arguments);
  void launch(SimStream& stream) const;
  void print(const std::string& path, unsigned flags) const;

 private:
  std::shared_ptr<Tasks> tasks_;
};

}  // namespace mxnet
