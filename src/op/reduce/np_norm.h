// SPDX-License-Identifier: Apache-2.0
// Which norm existing programs ask for.
#pragma once
#include <cmath>
#include <optional>

#include "op/reducing/axes.h"

namespace mxnet {

struct NumpyNormParams {
  double ord = 2.0;
  std::optional<Shape> axis;
  bool keepdims = false;
  int32_t flag = -1;
  AxisChoice choice() const { return {axis, keepdims, false, AxisStyle::kNumpy}; }
};

// What `flag` and `ord` of existing programs ask for.
enum class NormKind : uint8_t { kVector, kSpectral, kNuclear, kColumns };

inline NormKind kind_of(const NumpyNormParams& params) {
  if (params.flag == 2) return NormKind::kNuclear;
  if (params.flag != 0) return NormKind::kVector;
  return std::abs(params.ord) == 2.0 ? NormKind::kSpectral : NormKind::kColumns;
}
inline double vector_order(const NumpyNormParams& params) {
  return params.flag == -1 ? params.ord : 2.0;
}

}  // namespace mxnet
