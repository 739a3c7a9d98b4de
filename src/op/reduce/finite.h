// SPDX-License-Identifier: Apache-2.0
// Parameters of checks whether all elements of arrays are finite, or close to others.
#pragma once
#include <cmath>
#include <cstdint>

#include "base/host_device.h"

namespace mxnet {

// Without init_output the answer joins what the output holds already.
struct FiniteParams {
  bool init_output;
};
struct MultiFiniteParams {
  int32_t num_arrays;
  bool init_output;
};

struct CloseParams {
  float rtol, atol;
  bool equal_nan;

  MX_HOST_DEVICE bool are_close(double x, double y) const {
    // Equal infinities have no difference.
    const bool close = x == y || (std::abs(y) < INFINITY &&
                                  std::abs(x - y) <= double{atol} + double{rtol} * std::abs(y));
    return close || (equal_nan && x != x && y != y);
  }
};

}  // namespace mxnet
