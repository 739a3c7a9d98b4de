// SPDX-License-Identifier: Apache-2.0
// Real numbers back into pixels of an image's type.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/host_device.h"

namespace mxnet::image {

// Integers take the nearest value of their type, or with `truncate` the next one towards zero.
// Floating types take what comes.
template <class T, class C>
MX_HOST_DEVICE T to_pixel(C value, bool truncate = false) {
  if constexpr (std::is_integral_v<T> && sizeof(T) == 1) {
    constexpr C kLow = std::numeric_limits<T>::min(), kHigh = std::numeric_limits<T>::max();
    const C inside = std::min(kHigh, std::max(kLow, value));  // NaN is the smallest
    return static_cast<T>(static_cast<int32_t>(truncate ? inside : std::nearbyint(inside)));
  } else if constexpr (std::is_integral_v<T>) {
    const double wide = truncate ? std::trunc(static_cast<double>(value))
                                 : std::nearbyint(static_cast<double>(value));
    constexpr T kLow = std::numeric_limits<T>::min(), kHigh = std::numeric_limits<T>::max();
    if (!(wide > static_cast<double>(kLow))) return kLow;  // NaN too
    return wide >= static_cast<double>(kHigh) ? kHigh : static_cast<T>(wide);
  } else {
    return static_cast<T>(value);
  }
}

}  // namespace mxnet::image
