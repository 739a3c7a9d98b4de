// SPDX-License-Identifier: Apache-2.0
// Elements at fractions of the sorted order, for the host and for kernels.
#pragma once
#include <cmath>
#include <cstdint>
#include <optional>

#include "base/host_device.h"
#include "op/reducing/axes.h"

namespace mxnet {

// What stands for a place between two elements.
enum class Between : uint8_t { kLinear, kLower, kHigher, kMidpoint, kNearest };

struct PercentileParams {
  std::optional<Shape> axis;
  Between interpolation = Between::kLinear;
  bool keepdims = false;
  std::optional<double> q_scalar;
  AxisChoice choice() const { return {axis, keepdims, false, AxisStyle::kNumpy}; }
};

// The value at `percent` of `count` sorted elements.
template <class T>
MX_HOST_DEVICE double at_percent(const T* sorted, int64_t count, double percent, Between between) {
  const double place = percent / 100.0 * static_cast<double>(count - 1);
  const double low = std::floor(place);
  const auto at = [&](double position) {
    return static_cast<double>(sorted[static_cast<int64_t>(position)]);
  };
  switch (between) {
    case Between::kLower:
      return at(low);
    case Between::kHigher:
      return at(std::ceil(place));
    case Between::kNearest:
      return at(std::nearbyint(place));
    case Between::kMidpoint:
      return low == place ? at(low) : (at(low) + at(std::ceil(place))) / 2;
    case Between::kLinear:
      break;
  }
  const double fraction = place - low;
  return fraction == 0.0 ? at(low) : at(low) + fraction * (at(low + 1.0) - at(low));
}

}  // namespace mxnet
