// SPDX-License-Identifier: Apache-2.0
// Integers that stand for real numbers: an array of int8, uint8 or int32 and two arrays of one
// float each, the smallest and the largest real number. What an integer is worth follows from the
// larger of their magnitudes alone: all ranges are symmetrical, uint8 is the upper half of one.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/export.h"
#include "base/host_device.h"
#include "op/infer.h"
#include "op/kernel.h"

namespace mxnet::quantize {

// What numbers are quantized to.
inline constexpr DTypeSet kBytes = DTypeSet::of(DType::kInt8, DType::kUInt8);

struct Range {
  float min, max;
  MX_HOST_DEVICE float magnitude() const { return std::max(std::fabs(min), std::fabs(max)); }
};

// The real number that a range's end stands for is this integer. Existing files hold integers of
// both kinds: operators that came with oneDNN count half a step more than the older ones.
constexpr float kWideInt8 = 127.5f, kWideUInt8 = 255.5f;
constexpr float kInt8 = 127.0f, kUInt8 = 255.0f;
constexpr float kInt32 = 2147483647.0f;

MX_HOST_DEVICE inline float wide_limit(DType dtype) {
  return dtype == DType::kUInt8 ? kWideUInt8 : kWideInt8;
}
MX_HOST_DEVICE inline float limit(DType dtype) { return dtype == DType::kUInt8 ? kUInt8 : kInt8; }

// Steps per real number. A range that holds nothing but zero maps everything to zero.
MX_HOST_DEVICE inline float steps_per_unit(float steps, float magnitude) {
  return magnitude > 0.0f ? steps / magnitude : 0.0f;
}

// To the nearest integer, ties to even, without leaving the type. NaN becomes the smallest.
template <class T>
MX_HOST_DEVICE T nearest(float value) {
  static_assert(sizeof(T) == 1);  // the limits of wider types are not exact in float
  constexpr float kLow = static_cast<float>(std::numeric_limits<T>::min());
  constexpr float kHigh = static_cast<float>(std::numeric_limits<T>::max());
  return static_cast<T>(
      static_cast<int32_t>(std::nearbyint(std::min(kHigh, std::max(kLow, value)))));
}

// The same for an int32, whose limits are not exact in float.
MX_HOST_DEVICE inline int32_t nearest_int32(float value) {
  return static_cast<int32_t>(
      std::nearbyint(std::min(2147483647.0, std::max(-2147483648.0, static_cast<double>(value)))));
}

// What the ends of int32 stand for where a step is the product of two.
MX_HOST_DEVICE inline Range product_range(float data_step, float weight_step) {
  const float end = data_step * weight_step * kInt32;
  return {-end, end};
}

// The range that two inputs hold.
inline Range read_range(const KernelContext& context, int min_input, int max_input) {
  return {*context.in(min_input).as<float>(), *context.in(max_input).as<float>()};
}
// Writes outputs 1 and 2.
inline void write_range(const KernelContext& context, const Range& range) {
  *context.out(1).as<float>() = range.min;
  *context.out(2).as<float>() = range.max;
}
// The range of int32 products of a data and a weight: what the largest int32 would stand for.
void write_product_range(const KernelContext& context, float data_step, float weight_step);

// Names of the inputs of a product: data, weight and perhaps bias, then the ends of their ranges in
// the same order.
std::vector<std::string> product_inputs(bool bias);

// Both ends, or nothing. One alone is the caller's error.
MX_PLUGIN_API std::optional<Range> calibrated(const std::optional<float>& min,
                                              const std::optional<float>& max, const char* op);

// Input or output i is an end of a range.
void infer_range_inputs(Infer& infer, int first, int last);
void infer_range_outputs(Infer& infer);
// int8 or uint8; complains of anything else that is known.
void expect_bytes(InferArg arg);

}  // namespace mxnet::quantize
