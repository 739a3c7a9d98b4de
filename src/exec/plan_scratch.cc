// SPDX-License-Identifier: Apache-2.0
// One block, and the few that come before it is large enough.
#include "exec/plan_scratch.h"

#include "base/error.h"
#include "graph/memory_plan.h"

namespace mxnet {

PlanScratch::~PlanScratch() {
  for (const Block& block : extra_) Storage::get().release(block, nullptr);
  if (block_.data != nullptr) Storage::get().release(block_, nullptr);
}

void* PlanScratch::workspace(std::size_t bytes) {
  const std::size_t rounded = arena_bytes(bytes);
  if (rounded > block_.bytes - used_) {
    if (used_ > 0) {
      extra_.push_back(Storage::get().allocate(rounded, device_, "workspace"));
      return extra_.back().data;
    }
    replace(rounded);
  }
  char* data = static_cast<char*>(block_.data) + used_;
  used_ += rounded;
  return data;
}

void PlanScratch::merge() {
  std::size_t bytes = used_;
  for (const Block& block : extra_) {
    bytes += block.bytes;
    Storage::get().release_direct(block);
  }
  extra_.clear();
  used_ = 0;
  if (bytes > block_.bytes) replace(bytes);
}

void PlanScratch::replace(std::size_t bytes) {
  if (block_.data != nullptr) Storage::get().release_direct(block_);
  block_ = {};  // should the next line throw
  block_ = Storage::get().allocate(bytes, device_, "workspace");
}

Tensor PlanScratch::make_out(int, const Shape&) {
  MX_ASSERT(false);  // a plan holds no operator that finds shapes while running
}

}  // namespace mxnet
