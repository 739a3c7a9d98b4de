// SPDX-License-Identifier: Apache-2.0
// Moving elements between two arrays along any steps: what transposing, broadcasting, reversing,
// joining, splitting and slicing have in common. Element types do not matter, only their size.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/dtype.h"
#include "base/shape.h"

namespace mxnet {

// A box of index tuples and where its elements lie in two arrays. Each element of the box names one
// place in the output; places of the input may repeat (steps of 0) and run backwards.
class StridedPlan {
 public:
  struct Dim {
    int64_t size, in_step, out_step;  // steps in elements
  };
  // Tiling and splitting of dimensions double their number.
  static constexpr int kMaxDims = 2 * Shape::kMaxDims;

  int64_t in_offset = 0, out_offset = 0;  // in elements
  int64_t whole_bytes = 0;  // of the result that this is a part of, where that is larger

  void add(int64_t size, int64_t in_step, int64_t out_step);  // outermost first
  std::span<const Dim> dims() const { return {dims_.data(), static_cast<std::size_t>(ndim_)}; }
  // The way back: what was read is written. REQUIRES of its use for copying: no in_step of 0.
  StridedPlan reversed() const;

 private:
  std::array<Dim, kMaxDims> dims_;
  int ndim_ = 0;
};

// Elements between neighbours of each dimension of a row-major array of this shape.
class RowMajorSteps {
 public:
  explicit RowMajorSteps(const Shape& shape);
  int64_t operator[](int i) const { return steps_[static_cast<std::size_t>(i)]; }

 private:
  std::array<int64_t, Shape::kMaxDims> steps_;
};

// out <- in. REQUIRES: element_bytes is 1, 2, 4 or 8; the arrays do not overlap.
void copy_strided(const StridedPlan& plan, const void* in, void* out, std::size_t element_bytes);

// Elements [first, first + rows) of each column, side by side in the rows of `out`, on the caller's
// thread. REQUIRES: as copy_strided; columns.size() * element_bytes is some lines at most.
void interleave(std::span<const char* const> columns, int64_t first, void* out, int64_t rows,
                std::size_t element_bytes);

}  // namespace mxnet
