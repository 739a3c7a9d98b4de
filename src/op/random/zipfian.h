// SPDX-License-Identifier: Apache-2.0
// Parameters of _sample_unique_zipfian and the class that a number stands for, for any device.
#pragma once
#include <cmath>
#include <cstdint>

#include "base/host_device.h"
#include "base/shape.h"

namespace mxnet {

struct ZipfianParams {
  int32_t range_max;
  Shape shape;
};

// Of `u` in [0, 1); `log_range` is the logarithm of range_max.
MX_HOST_DEVICE inline int64_t zipfian_class(double u, double log_range, int32_t range_max) {
  const auto drawn = static_cast<int64_t>(std::lround(std::exp(u * log_range))) - 1;
  return drawn % range_max;
}

}  // namespace mxnet
