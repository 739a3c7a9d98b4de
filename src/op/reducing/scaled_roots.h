// SPDX-License-Identifier: Apache-2.0
// Roots of sums of squares that a double does not hold, though it holds the root.
#pragma once
#include <cstdint>

#include "op/kernel.h"
#include "op/reducing/reduce_plan.h"

namespace mxnet {

// roots[i] of output first + i anew where sums[i] has overflown or is too small to be exact. `in`
// has any type; only float64 has such numbers.
void scale_roots(const Tensor& in, const ReducePlan& plan, int64_t first, const double* sums,
                 int64_t n, double* roots);

}  // namespace mxnet
