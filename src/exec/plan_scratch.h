// SPDX-License-Identifier: Apache-2.0
// Scratch memory of the kernels of one plan: one block that all of them use in turn.
#pragma once
#include <vector>

#include "op/kernel.h"
#include "storage/storage.h"

namespace mxnet {

// Used by one thread at a time. Grows to what the greediest kernel asks for, then allocates no
// more.
class PlanScratch final : public KernelResources {
 public:
  explicit PlanScratch(Device device) : device_(device) {}
  ~PlanScratch() override;
  PlanScratch(const PlanScratch&) = delete;
  PlanScratch& operator=(const PlanScratch&) = delete;

  void* workspace(std::size_t bytes) override;
  Tensor make_out(int i, const Shape& shape) override;
  // The kernel that asked has ended.
  void reset() {
    if (!extra_.empty()) merge();
    used_ = 0;
  }
  std::size_t bytes() const { return block_.bytes; }

 private:
  void merge();
  // The smaller one goes back to the system: hardly anybody asks for just that size again, and it
  // would lie in the pool while the plan keeps what is large enough.
  void replace(std::size_t bytes);

  const Device device_;
  Block block_;
  std::size_t used_ = 0;      // of block_
  std::vector<Block> extra_;  // what did not fit
};

}  // namespace mxnet
