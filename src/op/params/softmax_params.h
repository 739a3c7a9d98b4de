// SPDX-License-Identifier: Apache-2.0
// Parameters of softmax and its kin, for whoever fuses them.
#pragma once
#include <cstdint>
#include <optional>

#include "base/dtype.h"

namespace mxnet {

struct SoftmaxParams {
  int32_t axis;
  std::optional<double> temperature;
  DType dtype;
  std::optional<bool> use_length;
};

}  // namespace mxnet
