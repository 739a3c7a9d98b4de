// SPDX-License-Identifier: Apache-2.0
// How to walk an array that is reduced along some axes: dimensions that behave alike are merged, so
// that any set of axes becomes an alternation of kept and reduced dimensions with one contiguous
// innermost run. A reduction over one group of axes is outer x reduce x inner.
#pragma once
#include <array>
#include <cstdint>

#include "base/shape.h"

namespace mxnet {

// A set of axes as bits.
using AxisSet = uint32_t;
static_assert(Shape::kMaxDims <= 32);

struct ReduceDim {
  int64_t size, stride;  // in elements of the input
};

// Dimensions visited in row-major order: their count of positions, and the offset of each.
class ReduceWalk {
 public:
  void add(ReduceDim dim) {
    dims_[static_cast<std::size_t>(count_++)] = dim;
    positions_ *= dim.size;
  }
  int count() const { return count_; }
  int64_t positions() const { return positions_; }
  const ReduceDim& dim(int i) const { return dims_[static_cast<std::size_t>(i)]; }
  int64_t offset(int64_t position) const {
    if (count_ == 1) return position * dims_[0].stride;
    int64_t offset = 0;
    for (int i = count_ - 1; i >= 0; --i) {
      offset += position % dim(i).size * dim(i).stride;
      position /= dim(i).size;
    }
    return offset;
  }

 private:
  std::array<ReduceDim, Shape::kMaxDims> dims_;
  int count_ = 0;
  int64_t positions_ = 1;
};

class ReducePlan {
 public:
  ReducePlan(const Shape& shape, AxisSet reduced);

  // The innermost run of the input: `run` contiguous elements, all reduced to one output
  // (inner_reduced) or all kept.
  bool inner_reduced() const { return inner_reduced_; }
  int64_t run() const { return run_; }
  // The dimensions around the run.
  const ReduceWalk& kept() const { return kept_; }
  const ReduceWalk& reduced() const { return reduced_; }

  int64_t outputs() const { return kept_.positions() * (inner_reduced_ ? 1 : run_); }
  // Elements that make one output.
  int64_t extent() const { return reduced_.positions() * (inner_reduced_ ? run_ : 1); }

 private:
  bool inner_reduced_ = true;
  int64_t run_ = 1;
  ReduceWalk kept_, reduced_;
};

}  // namespace mxnet
