// SPDX-License-Identifier: Apache-2.0
// Results of steps that stay from run to run on a GPU, and what they were computed of: weights that
// a convolution reads in another form, say, which only training changes.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "exec/plan.h"

namespace mxnet {

// Nodes of which a plan with these options keeps the results: what is made of nothing but the
// caller's arrays, which no node writes. Empty = none.
std::vector<bool> kept_nodes(const IndexedGraph& graph, const PlanOptions& options);

// Belongs to one PlanInstance; used by one operation of the engine at a time.
class KeptResults {
 public:
  KeptResults() = default;
  // Allocates what the plan keeps.
  explicit KeptResults(const Plan& plan);

  const NDArray& array(int kept) const { return arrays_[static_cast<std::size_t>(kept)]; }
  // Whether results are those of `inputs`, as they are now. `kept` is the first of a step's
  // results, as below. REQUIRES: inside an operation that reads the inputs.
  bool is_current(int kept, std::span<const NDArray> inputs) const;
  void forget(int kept) { sources_[static_cast<std::size_t>(kept)].clear(); }
  // The step's work has been put on the stream.
  void computed(int kept, std::span<const NDArray> inputs);

 private:
  // The same array with the same version has the same numbers. Holding it keeps its address from
  // others.
  struct Source {
    NDArray array;
    uint64_t version;
  };

  std::vector<NDArray> arrays_;
  std::vector<std::vector<Source>> sources_;  // by first result; empty: not computed
};

}  // namespace mxnet
