// SPDX-License-Identifier: Apache-2.0
// Which axes a call reduces, and the shape that is left.
#pragma once
#include <optional>

#include "base/shape.h"
#include "op/infer.h"
#include "op/reducing/reduce_plan.h"

namespace mxnet {

// How the two front ends read the same parameters.
enum class AxisStyle : uint8_t {
  kArray,  // an empty tuple means all axes; what is fully reduced has shape (1,)
  kNumpy,  // an empty tuple means none; what is fully reduced is a scalar
};

struct AxisChoice {
  std::optional<Shape> axis;
  bool keepdims = false;
  bool exclude = false;
  AxisStyle style = AxisStyle::kArray;

  // Throws Error(kValue, tag) on an axis that does not exist or is named twice.
  AxisSet axes(int ndim, const char* tag) const;
  // The result of reducing `shape`, of which dimensions may be unknown.
  Shape shape(const Shape& shape, const char* tag) const;
};

// Whether the kernel has nothing to reduce from, though outputs exist.
bool reduces_nothing(const Shape& shape, AxisSet axes);

AxisSet all_axes(int ndim);
// Elements of `shape` per output.
int64_t reduced_count(const Shape& shape, AxisSet axes);

}  // namespace mxnet
