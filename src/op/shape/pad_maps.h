// SPDX-License-Identifier: Apache-2.0
// Padding, one dimension at a time: for each position of the result the position of the input that
// it shows. Both front ends' operators and their gradients walk these maps.
#pragma once
#include <vector>

#include "op/kernel.h"
#include "op/moving/strided_copy.h"
#include "op/params/param.h"

namespace mxnet {

enum class PadMode : uint8_t { kConstant, kEdge, kReflect, kSymmetric, kMaximum, kMinimum };

struct PadWidth {
  int64_t before, after;
};

// Positions of the input by position of the result; kOutside where a constant stands.
class PadMaps {
 public:
  static constexpr int64_t kOutside = -1;

  // REQUIRES: a mode other than kMaximum and kMinimum; `in` not empty unless the mode is kConstant.
  PadMaps(const Shape& in, const std::vector<PadWidth>& widths, PadMode mode);

  PadMode mode() const { return mode_; }
  int64_t at(int dim, int64_t position) const {
    const Dim& d = dims_[static_cast<std::size_t>(dim)];
    const int64_t inside = position - d.before;
    if (inside >= 0 && inside < d.size) return inside;
    return d.borders[static_cast<std::size_t>(inside < 0 ? position : position - d.size)];
  }
  // Where the input itself begins in the result.
  int64_t before(int dim) const { return dims_[static_cast<std::size_t>(dim)].before; }

 private:
  struct Dim {
    int64_t before, size;
    std::vector<int64_t> borders;  // the one before the input, and the one after it
  };
  PadMode mode_;
  std::vector<Dim> dims_;
};

Shape padded_shape(const Shape& in, const std::vector<PadWidth>& widths);
// From an input to its own place in the padded result.
StridedPlan interior_plan(const PadMaps& maps, const Shape& in, const Shape& out);

// Both run on the device of the call.

// out <- in, padded.
void pad_elements(const PadMaps& maps, const Tensor& in, const Tensor& out, double constant,
                  KernelContext& context);
// dx <- the sum of the places of `dy` that show each of its elements.
void sum_padded(const PadMaps& maps, const Tensor& dy, const Tensor& dx, KernelContext& context);

// Attributes of a padding operator with 0 as the constant.
Attrs without_constant(const Attrs& attrs);

}  // namespace mxnet
