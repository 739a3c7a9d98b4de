// SPDX-License-Identifier: Apache-2.0
// How to walk two arrays that broadcast: dimensions that behave alike are merged, and the innermost
// one becomes a row that one loop computes (two arrays, or an array and a single element).
#pragma once
#include <array>
#include <cstdint>

#include "base/shape.h"

namespace mxnet {

class BroadcastPlan {
 public:
  enum class Inner : uint8_t { kArrays, kRightScalar, kLeftScalar };

  // REQUIRES: a and b broadcast to `out`.
  BroadcastPlan(const Shape& a, const Shape& b, const Shape& out);

  Inner inner() const { return inner_; }
  int64_t row_length() const { return row_; }
  int64_t rows() const { return rows_; }
  // Whether the offsets of row r are r times those of row 1.
  bool uniform() const { return outer_ <= 1; }
  // Element offsets of a row in a and b (in the output it is row * row_length()).
  void offsets(int64_t row, int64_t* a, int64_t* b) const {
    int64_t at_a = 0, at_b = 0;
    for (int i = outer_ - 1; i > 0; --i) {
      const Dim& d = dims_[static_cast<std::size_t>(i)];
      const int64_t index = row % d.size;
      row /= d.size;
      at_a += index * d.step_a;
      at_b += index * d.step_b;
    }
    if (outer_ > 0) {  // what is left is the index already: the common case divides nothing
      at_a += row * dims_[0].step_a;
      at_b += row * dims_[0].step_b;
    }
    *a = at_a;
    *b = at_b;
  }

 private:
  struct Dim {
    int64_t size, step_a, step_b;  // steps in elements; 0 where that array is broadcast
  };
  std::array<Dim, Shape::kMaxDims> dims_;
  int outer_ = 0;
  int64_t row_ = 1, rows_ = 1;
  Inner inner_ = Inner::kArrays;
};

}  // namespace mxnet
