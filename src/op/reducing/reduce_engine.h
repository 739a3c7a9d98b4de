// SPDX-License-Identifier: Apache-2.0
// Reductions of tensors along any axes: collapsed dimensions, vectorised inner loops, threads, and
// sums whose error does not grow with the number of elements. Sums of the same elements are equal
// for any number of threads: how they are grouped follows from the shape alone.
#pragma once
#include <cstdint>
#include <functional>

#include "op/kernel.h"
#include "op/reducing/reduce_loops.h"
#include "op/reducing/reduce_plan.h"

namespace mxnet {

// Takes finished outputs [first, first + n). Called from several threads, for separate ranges.
template <class A>
using ReduceStore = std::function<void(int64_t first, const A* values, int64_t n)>;

// A is the type in which values meet: float (elements of float32 and half types), double (any
// elements), int64_t (integers and bool). `about`: the parameter of each output, for reductions
// that have one. Outputs without elements get the identity.
template <class A>
void reduce(Reduction reduction, const Tensor& in, const ReducePlan& plan,
            const ReduceStore<A>& store, const A* about = nullptr);

// Whether the reduction was one of narrow integers to elements of `out`, none of which int64 saw:
// extremes to the type of `in`, any and all to bool.
bool compare_into(Reduction reduction, const Tensor& in, const ReducePlan& plan, const Tensor& out);

// Whether sums of `dtype` should use a wider type than the data's (MXNET_SAFE_ACCUMULATION).
bool accumulate_wide();

}  // namespace mxnet
