// SPDX-License-Identifier: Apache-2.0
// Calls that run node by node and yet are one call to who records them: as by a plan, a result that
// leads to no wanted input may be differentiated, and who is not reached has a gradient of zeros.
#pragma once
#include <cstdint>
#include <vector>

#include "exec/plan_run.h"

namespace mxnet {

// A call's own history, behind handles of its inputs and results. Waits for the inputs: who has a
// hook looks at the values anyway.
class OwnTape final : public RecordedCall {
 public:
  OwnTape(std::span<NDArray* const> inputs, std::size_t num_results,
          const std::vector<bool>& wants);

  // To run the nodes on; with what they record.
  std::vector<NDArray*> inputs() { return refs(inputs_); }
  std::vector<NDArray*> results() { return refs(results_); }
  // Without it.
  std::vector<NDArray> detached_results() const;

  std::vector<NDArray> backward(std::span<const NDArray>, std::vector<NDArray> result_grads,
                                std::span<const NDArray> targets) const override;
  bool is_written_since(std::size_t input, const NDArray& array) const override;

 private:
  static std::vector<NDArray*> refs(std::vector<NDArray>& arrays);

  std::vector<NDArray> inputs_, results_;
  std::vector<uint64_t> versions_;  // of the inputs
};

}  // namespace mxnet
