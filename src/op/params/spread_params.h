// SPDX-License-Identifier: Apache-2.0
// Parameters of the gradients of reductions, of dense arrays and of row_sparse ones.
#pragma once
#include <cstdint>
#include <optional>

#include "op/reducing/axes.h"

namespace mxnet {

// Readable from the attributes of every reduction.
struct SpreadParams {
  std::optional<Shape> axis;
  bool exclude;
  bool numpy;
  int32_t ddof = 0;  // of spread means: they divide by n - ddof
  AxisChoice choice() const {
    return {axis, false, exclude, numpy ? AxisStyle::kNumpy : AxisStyle::kArray};
  }
  AxisSet axes(int ndim, const char* tag) const { return choice().axes(ndim, tag); }
};

}  // namespace mxnet
