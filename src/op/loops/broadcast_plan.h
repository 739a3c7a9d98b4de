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
  // After how many rows those of a, or of b, come again; 0 where they do not.
  int64_t period(bool of_a) const {
    if (outer_ == 0 || (of_a ? dims_[0].step_a : dims_[0].step_b) != 0) return 0;
    return rows_ / dims_[0].size;
  }

  struct Dim {
    int64_t size, step_a, step_b;  // steps in elements; 0 where that array is broadcast
  };
  // Along which neighbouring rows lie. REQUIRES: rows() > 1.
  const Dim& along_rows() const { return dims_[static_cast<std::size_t>(outer_ - 1)]; }

  // Goes from row to row.
  class Walk;

 private:
  std::array<Dim, Shape::kMaxDims> dims_;
  int outer_ = 0;
  int64_t row_ = 1, rows_ = 1;
  Inner inner_ = Inner::kArrays;
};

class BroadcastPlan::Walk {
 public:
  Walk(const BroadcastPlan& plan, int64_t row);
  void next();
  // Element offsets of the row in a and b; in the output it is row * row_length().
  int64_t a = 0, b = 0;

 private:
  const BroadcastPlan& plan_;
  std::array<int64_t, Shape::kMaxDims> index_;
};

}  // namespace mxnet
