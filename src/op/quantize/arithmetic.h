// SPDX-License-Identifier: Apache-2.0
// How sums and products of quantized numbers come into their range.
#pragma once
#include <optional>

#include "op/quantize/range.h"

namespace mxnet::quantize {

struct BinaryParams {
  std::optional<float> min_calib, max_calib;
  bool float_output;
  bool is_calibrated() const { return min_calib && max_calib; }
};

// Both sides of a sum become steps of the result in float; each product is rounded before they are
// added. Without a calibrated range the result is int32.
struct SumScales {
  Range range;
  float lhs, rhs;

  MX_HOST_DEVICE SumScales(const Range& lhs_range, DType lhs_type, const Range& rhs_range,
                           DType rhs_type, const Range* known, DType out_type) {
    const float lhs_end = lhs_range.magnitude(), rhs_end = rhs_range.magnitude();
    range = known != nullptr ? *known : Range{-(lhs_end + rhs_end), lhs_end + rhs_end};
    const float steps = known != nullptr ? wide_limit(out_type) : kInt32;
    const float end = range.magnitude();
    // One division of products, which is how 1.9.1 rounds.
    lhs = steps_per_unit(lhs_end * steps, wide_limit(lhs_type) * end);
    rhs = steps_per_unit(rhs_end * steps, wide_limit(rhs_type) * end);
  }
  template <class A, class B>
  MX_HOST_DEVICE float operator()(A a, B b) const {
    return static_cast<float>(a) * lhs + static_cast<float>(b) * rhs;
  }
};

}  // namespace mxnet::quantize
