// SPDX-License-Identifier: Apache-2.0
// Parameters of BatchNorm and BatchNormWithReLU, for whoever fuses them.
#pragma once
#include <cstdint>
#include <optional>

namespace mxnet {

struct BatchNormParams {
  double eps;
  float momentum;
  bool fix_gamma, use_global_stats, output_mean_var;
  int32_t axis;
  bool cudnn_off;
  std::optional<float> min_calib_range, max_calib_range;
};

}  // namespace mxnet
