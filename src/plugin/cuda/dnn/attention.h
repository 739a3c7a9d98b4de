// SPDX-License-Identifier: Apache-2.0
// Attention as cuDNN sees it: one operation on the heads of interleaved arrays, without an array of
// weights between its products.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "plugin/cuda/dnn/engine_plan.h"
#include "plugin/cuda/dnn/plan_table.h"

namespace mxnet::cuda {

struct Attention {
  DType dtype = DType::kFloat16;
  int64_t batch = 0, heads = 0, size = 0;  // `size`: elements of a vector
  int64_t queries = 0, keys = 0;           // steps
  // Vectors of each head that lie side by side, in the array of queries and in that of keys.
  int64_t query_parts = 1, memory_parts = 2;
  float scale = 1;  // of the products

  // All of it as text, for reports.
  std::string to_string() const;
  // All numbers that a plan depends on. Replaces what is in `key`, whose memory stays. The scale is
  // none of them: plans read it when they run.
  void set_key(PlanKey* key) const;
};

// First vectors of the first head. Nothing is read through them here.
struct AttentionArrays {
  void *queries, *keys, *values, *output;
};

// The finalized operation; needs no GPU. Throws Error where the library lacks it, as before 9.13.
std::vector<Descriptor> attention_operations(const Attention& attention);

// What attention of one shape runs by. Immutable.
class AttentionPlan : public EnginePlan {
 public:
  using EnginePlan::EnginePlan;
  // On the handle's stream.
  void run(cudnnHandle_t handle, const AttentionArrays& arrays, float scale, void* workspace) const;
};

}  // namespace mxnet::cuda
