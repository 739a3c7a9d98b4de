// SPDX-License-Identifier: Apache-2.0
// Lists of axes in parameters, and copies that follow them.
#pragma once
#include <array>
#include <span>
#include <string>

#include "base/shape.h"
#include "op/moving/strided_copy.h"

namespace mxnet {

// Positions of the dimensions of an array, each once at most.
class Axes {
 public:
  Axes() = default;
  // Throws Error(kValue, tag) for one that is out of range or given twice.
  Axes(const Shape& given, int ndim, const char* tag);
  static Axes identity(int ndim);
  static Axes reversed(int ndim);

  int size() const { return size_; }
  int operator[](int i) const { return at_[static_cast<std::size_t>(i)]; }
  int& operator[](int i) { return at_[static_cast<std::size_t>(i)]; }
  bool contains(int axis) const;
  void push_back(int axis) { at_[static_cast<std::size_t>(size_++)] = axis; }
  // REQUIRES: a permutation.
  Axes inverse() const;
  std::string text() const;  // "(1,0,2)"

 private:
  std::array<int, Shape::kMaxDims> at_{};
  int size_ = 0;
};

// Dimension i of the result is dimension axes[i] of `in`.
Shape permuted_shape(const Shape& in, const Axes& axes);
StridedPlan permutation_plan(const Shape& in, const Axes& axes);
// The same shape, walked backwards along `axes`.
StridedPlan flip_plan(const Shape& in, const Axes& axes);
// `in` repeated to `out`: dimensions are matched from the last one; 1 becomes any size.
StridedPlan broadcast_plan(const Shape& in, const Shape& out);

}  // namespace mxnet
