// SPDX-License-Identifier: Apache-2.0
// Merging of dimensions.
#include "op/loops/broadcast_plan.h"

namespace mxnet {

BroadcastPlan::BroadcastPlan(const Shape& a, const Shape& b, const Shape& out) {
  // One row, as most small calls have it: two arrays of one shape, or one and a number.
  const bool a_whole = a == out, b_whole = b == out;
  const auto number = [&](const Shape& shape) {
    return shape.ndim() == 1 && shape[0] == 1 && !out.empty();
  };
  if (a_whole && b_whole) {
    row_ = out.size();
    return;
  }
  if ((a_whole && number(b)) || (b_whole && number(a))) {
    row_ = out.size();
    inner_ = a_whole ? Inner::kRightScalar : Inner::kLeftScalar;
    return;
  }
  struct Kind {
    bool a, b;  // whether the array has this dimension (else it is broadcast along it)
    bool operator==(const Kind&) const = default;
  };
  std::array<Kind, Shape::kMaxDims> kinds;
  int n = 0;
  for (int i = 0; i < out.ndim(); ++i) {
    const int ia = i - (out.ndim() - a.ndim()), ib = i - (out.ndim() - b.ndim());
    if (out[i] == 1) continue;
    const Kind kind{ia >= 0 && a[ia] != 1, ib >= 0 && b[ib] != 1};
    if (n > 0 && kinds[static_cast<std::size_t>(n - 1)] == kind) {
      dims_[static_cast<std::size_t>(n - 1)].size *= out[i];
    } else {
      kinds[static_cast<std::size_t>(n)] = kind;
      dims_[static_cast<std::size_t>(n++)] = {out[i], 0, 0};
    }
  }
  int64_t step_a = 1, step_b = 1;
  for (int i = n - 1; i >= 0; --i) {
    Dim& d = dims_[static_cast<std::size_t>(i)];
    if (kinds[static_cast<std::size_t>(i)].a) {
      d.step_a = step_a;
      step_a *= d.size;
    }
    if (kinds[static_cast<std::size_t>(i)].b) {
      d.step_b = step_b;
      step_b *= d.size;
    }
  }
  if (n > 0) {
    const Kind inner = kinds[static_cast<std::size_t>(n - 1)];
    row_ = dims_[static_cast<std::size_t>(n - 1)].size;
    inner_ = inner.a && inner.b ? Inner::kArrays
             : inner.a          ? Inner::kRightScalar
                                : Inner::kLeftScalar;
    outer_ = n - 1;
  }
  for (int i = 0; i < outer_; ++i) rows_ *= dims_[static_cast<std::size_t>(i)].size;
}

BroadcastPlan::Walk::Walk(const BroadcastPlan& plan, int64_t row) : plan_(plan) {
  for (int i = plan.outer_ - 1; i >= 0; --i) {
    const Dim& d = plan.dims_[static_cast<std::size_t>(i)];
    int64_t index = row;
    if (i > 0) {  // what is left is the index already
      index = row % d.size;
      row /= d.size;
    }
    index_[static_cast<std::size_t>(i)] = index;
    a += index * d.step_a;
    b += index * d.step_b;
  }
}

// Nothing is divided: 64 bits take as long as a short row.
void BroadcastPlan::Walk::next() {
  for (int i = plan_.outer_ - 1; i >= 0; --i) {
    const Dim& d = plan_.dims_[static_cast<std::size_t>(i)];
    int64_t& index = index_[static_cast<std::size_t>(i)];
    a += d.step_a;
    b += d.step_b;
    if (++index < d.size || i == 0) return;
    a -= d.step_a * d.size;
    b -= d.step_b * d.size;
    index = 0;
  }
}

}  // namespace mxnet
