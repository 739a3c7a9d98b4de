// SPDX-License-Identifier: Apache-2.0
// Visits an output in order together with the elements of two inputs that broadcast to it.
#pragma once
#include <array>
#include <cstdint>

#include "base/shape.h"

namespace mxnet {

class BroadcastWalk {
 public:
  // REQUIRES: a and b broadcast to out.
  BroadcastWalk(const Shape& a, const Shape& b, const Shape& out) : ndim_(out.ndim()) {
    int64_t size_a = 1, size_b = 1;
    for (int i = 1; i <= ndim_; ++i) {
      Dim& dim = dims_[static_cast<std::size_t>(ndim_ - i)];
      const int64_t in_a = i <= a.ndim() ? a[a.ndim() - i] : 1;
      const int64_t in_b = i <= b.ndim() ? b[b.ndim() - i] : 1;
      dim = {out[ndim_ - i], in_a == 1 ? 0 : size_a, in_b == 1 ? 0 : size_b, 0};
      size_a *= in_a;
      size_b *= in_b;
    }
  }
  int64_t a() const { return a_; }
  int64_t b() const { return b_; }
  void next() {
    for (int i = ndim_ - 1; i >= 0; --i) {
      Dim& dim = dims_[static_cast<std::size_t>(i)];
      a_ += dim.step_a;
      b_ += dim.step_b;
      if (++dim.index < dim.size) return;
      a_ -= dim.step_a * dim.size;
      b_ -= dim.step_b * dim.size;
      dim.index = 0;
    }
  }

 private:
  struct Dim {
    int64_t size, step_a, step_b, index;
  };
  std::array<Dim, Shape::kMaxDims> dims_;
  const int ndim_;
  int64_t a_ = 0, b_ = 0;
};

}  // namespace mxnet
