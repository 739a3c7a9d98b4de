// SPDX-License-Identifier: Apache-2.0
// From parameters to sets of axes and shapes of results.
#include "op/reducing/axes.h"

#include <fmt/format.h>

#include "base/error.h"

namespace mxnet {

AxisSet all_axes(int ndim) {
  return ndim >= Shape::kMaxDims ? ~AxisSet{0} : (AxisSet{1} << ndim) - 1;
}

int64_t reduced_count(const Shape& shape, AxisSet axes) {
  int64_t count = 1;
  for (int i = 0; i < shape.ndim(); ++i) {
    if ((axes >> i & 1) != 0) count *= shape[i];
  }
  return count;
}

bool reduces_nothing(const Shape& shape, AxisSet axes) {
  bool outputs = true;
  for (int i = 0; i < shape.ndim(); ++i) {
    if ((axes >> i & 1) == 0 && shape[i] == 0) outputs = false;
  }
  return outputs && reduced_count(shape, axes) == 0;
}

AxisSet AxisChoice::axes(int ndim, const char* tag) const {
  if (!axis || (style == AxisStyle::kArray && axis->empty())) return all_axes(ndim);
  AxisSet set = 0;
  for (const int64_t given : axis->dims()) {
    // A scalar may be given the first or last of the axes that it does not have, as NumPy has it.
    if (ndim == 0 && axis->ndim() == 1 && (given == 0 || given == -1)) continue;
    const AxisSet bit = AxisSet{1} << normalize_axis(given, ndim, tag);
    if ((set & bit) != 0) {
      throw Error(ErrorCode::kValue, tag,
                  fmt::format("given axis {}, expected each axis once", to_string(*axis)));
    }
    set |= bit;
  }
  return exclude ? all_axes(ndim) & ~set : set;
}

Shape AxisChoice::shape(const Shape& shape, const char* tag) const {
  const AxisSet set = axes(shape.ndim(), tag);
  Shape result = Shape::scalar();
  for (int i = 0; i < shape.ndim(); ++i) {
    if ((set >> i & 1) == 0) {
      result.push_back(shape[i]);
    } else if (keepdims) {
      result.push_back(1);
    }
  }
  const bool kept = keepdims && shape.ndim() == 0;  // all axes of a scalar: none
  if (style == AxisStyle::kArray && result.ndim() == 0 && !kept) result.push_back(1);
  return result;
}

}  // namespace mxnet
