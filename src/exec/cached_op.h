// SPDX-License-Identifier: Apache-2.0
// A graph that is called like one operator (hybridized blocks): compiled once for each combination
// of input types, differentiated as a whole.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "exec/plan_eager.h"

namespace mxnet {

// As given at creation; names are those of the C ABI.
struct CachedOpFlags {
  // Accepted; memory and compiled plans are kept between calls either way, and results are always
  // new arrays: static_alloc never made a result change under its owner's hands here.
  bool static_alloc = false, static_shape = false;
  // Graphs of at most so many operators run as eager calls, unless static.
  int inline_limit = 2;
  // Operators in one engine operation; 0 = all; -1 = as MXNET_EXEC_BULK_EXEC_* say.
  int forward_bulk_size = -1, backward_bulk_size = -1;
  std::vector<int> data_indices, param_indices;  // checked against the inputs
  bool is_np_shape = false;

  // Throws Error(kValue) for an unknown key or a bad value.
  static CachedOpFlags parse(AttrList flags);
};

// Thread-safe: any number of threads may call it, each has activations of its own, and calls of
// known types take no lock while nobody watches.
class CachedOp {
 public:
  CachedOp(ir::Graph graph, const CachedOpFlags& flags);
  ~CachedOp();

  // Inputs are all variables of the graph in order, auxiliary states too.
  const IndexedGraph& graph() const;
  // Runs under the thread's autograd switches, and goes onto the tape while it records. `outputs`:
  // one per output of the graph; those that are none are made.
  void invoke(std::span<NDArray* const> inputs, OutputRefs outputs, Device device);

  // Sees every value by node name and operator; calls go node by node then. Empty = none.
  using Hook = std::function<void(const std::string& name, const std::string& op, const NDArray&)>;
  void set_hook(Hook hook, bool all);

  // Compiled plans so far.
  int num_plans() const;

 private:
  class Impl;
  const std::shared_ptr<Impl> impl_;  // shared with tape nodes
};

}  // namespace mxnet
