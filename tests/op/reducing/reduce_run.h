// SPDX-License-Identifier: Apache-2.0
// A reduction of a vector, for its tests.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "op/reducing/reduce_engine.h"

namespace mxnet {

constexpr AxisSet axis_set(std::initializer_list<int> list) {
  AxisSet set = 0;
  for (const int axis : list) set |= AxisSet{1} << axis;
  return set;
}

// One number for each output. `about`: where the reduction has parameters, one for each, too.
template <class T, class A>
std::vector<A> reduced(Reduction reduction, std::vector<T>& x, const Shape& shape, AxisSet set,
                       const A* about = nullptr) {
  const ReducePlan plan(shape, set);
  std::vector<A> out(static_cast<std::size_t>(plan.outputs()));
  reduce<A>(
      reduction, {x.data(), &shape, dtype_of<T>}, plan,
      [&](int64_t first, const A* values, int64_t n) {
        std::copy_n(values, n, out.begin() + first);
      },
      about);
  return out;
}

}  // namespace mxnet
