// SPDX-License-Identifier: Apache-2.0
// Reading and checking of axes, and the plans that follow from them.
#include "op/shape/axes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"

namespace mxnet {

Axes::Axes(const Shape& given, int ndim, const char* tag) {
  for (const int64_t axis : given) {
    const int at = normalize_axis(axis, ndim, tag);
    if (contains(at)) {
      throw Error(
          ErrorCode::kValue, tag,
          fmt::format("given axis {} twice in {}, expected each once", axis, to_string(given)));
    }
    push_back(at);
  }
}

Axes Axes::identity(int ndim) {
  Axes axes;
  for (int i = 0; i < ndim; ++i) axes.push_back(i);
  return axes;
}

Axes Axes::reversed(int ndim) {
  Axes axes;
  for (int i = ndim - 1; i >= 0; --i) axes.push_back(i);
  return axes;
}

bool Axes::contains(int axis) const {
  for (int i = 0; i < size_; ++i)
    if ((*this)[i] == axis) return true;
  return false;
}

Axes Axes::inverse() const {
  Axes result = identity(size_);
  for (int i = 0; i < size_; ++i) result[(*this)[i]] = i;
  return result;
}

std::string Axes::text() const {
  return fmt::format("({}{})", fmt::join(at_.begin(), at_.begin() + size_, ","),
                     size_ == 1 ? "," : "");
}

Shape permuted_shape(const Shape& in, const Axes& axes) {
  Shape out(axes.size(), 0);
  for (int i = 0; i < axes.size(); ++i) out[i] = in[axes[i]];
  return out;
}

StridedPlan permutation_plan(const Shape& in, const Axes& axes) {
  const Shape out = permuted_shape(in, axes);
  const RowMajorSteps in_steps(in), out_steps(out);
  StridedPlan plan;
  for (int i = 0; i < axes.size(); ++i) plan.add(out[i], in_steps[axes[i]], out_steps[i]);
  return plan;
}

StridedPlan flip_plan(const Shape& in, const Axes& axes) {
  const RowMajorSteps steps(in);
  StridedPlan plan;
  for (int i = 0; i < in.ndim(); ++i) {
    const bool flipped = axes.contains(i) && in[i] > 0;
    if (flipped) plan.in_offset += (in[i] - 1) * steps[i];
    plan.add(in[i], flipped ? -steps[i] : steps[i], steps[i]);
  }
  return plan;
}

StridedPlan broadcast_plan(const Shape& in, const Shape& out) {
  const RowMajorSteps in_steps(in), out_steps(out);
  const int added = out.ndim() - in.ndim();
  StridedPlan plan;
  for (int i = 0; i < out.ndim(); ++i) {
    const bool spread = i < added || in[i - added] == 1;
    plan.add(out[i], spread ? 0 : in_steps[i - added], out_steps[i]);
  }
  return plan;
}

}  // namespace mxnet
