// SPDX-License-Identifier: Apache-2.0
// The points of windows of signal processing.
#pragma once
#include <cmath>
#include <cstdint>
#include <numbers>

#include "base/dtype.h"
#include "base/host_device.h"

namespace mxnet {

// c0 - c1 cos(a) + c2 cos(2a), a from 0 to 2 pi.
struct Cosines {
  double c0, c1, c2;
};
inline constexpr Cosines kHanning{0.5, 0.5, 0.0};
inline constexpr Cosines kHamming{0.54, 0.46, 0.0};
inline constexpr Cosines kBlackman{0.42, 0.5, 0.08};

// Integers have always come from a pi in single precision: the middle is just below 1, and so 0.
inline double pi_of_window(DType dtype) {
  return is_floating(dtype) ? std::numbers::pi : double{std::numbers::pi_v<float>};
}

struct Window {
  Cosines cosines;
  double pi;
  int64_t points;

  MX_HOST_DEVICE double operator()(int64_t i) const {
    if (points == 1) return 1.0;
    const double a = 2.0 * pi * static_cast<double>(i) / static_cast<double>(points - 1);
    return cosines.c0 - cosines.c1 * std::cos(a) + cosines.c2 * std::cos(2.0 * a);
  }
};

}  // namespace mxnet
