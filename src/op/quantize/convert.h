// SPDX-License-Identifier: Apache-2.0
// What the operators between real numbers and their integers are told, and what they tell.
#pragma once
#include <optional>

#include "op/quantize/range.h"

namespace mxnet::quantize {

enum class OutType : int8_t { kAuto, kInt8, kUInt8 };

struct QuantizeParams {
  OutType out_type;
  std::optional<float> min_calib, max_calib;

  // By the range that was calibrated, where the type is left open.
  DType dtype() const {
    if (out_type == OutType::kAuto)
      return min_calib && max_calib && *min_calib >= 0.0f ? DType::kUInt8 : DType::kInt8;
    return out_type == OutType::kInt8 ? DType::kInt8 : DType::kUInt8;
  }
};

struct DequantizeParams {
  DType out_type;
};

// What callers are told: the calibrated range of int8 is made symmetrical.
MX_HOST_DEVICE inline Range reported(DType dtype, const Range& range) {
  if (dtype == DType::kUInt8) return range;
  return {-range.magnitude(), range.magnitude()};
}

// The whole range of uint8 for [min, max], zero anywhere in it: x * scale + shift.
struct Affine {
  float scale, shift;
};
MX_HOST_DEVICE inline Affine whole_range(const Range& range) {
  // All numbers alike: any scale shows them, as long as it is finite.
  const float width = range.max - range.min;
  const float scale = width > 0.0f ? kUInt8 / width : 1.0f;
  return {scale, kUInt8 - range.max * scale};
}

}  // namespace mxnet::quantize
