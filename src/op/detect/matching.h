// SPDX-License-Identifier: Apache-2.0
// Parameters of operators that match rows with columns, and anchors with true boxes.
#pragma once
#include <cstdint>
#include <vector>

namespace mxnet::detect {

struct MatchingParams {
  bool is_ascend;
  float threshold;
  int32_t topk;
};

struct TargetParams {
  float overlap_threshold, ignore_label, negative_mining_ratio, negative_mining_thresh;
  int32_t minimum_negative_samples;
  std::vector<float> variances;
};

}  // namespace mxnet::detect
