// SPDX-License-Identifier: Apache-2.0
// The reverse of a copy that repeats elements: sums up what each was repeated to.
#pragma once
#include "op/kernel.h"
#include "op/run/primitives.h"

namespace mxnet {

// `plan` copies from arrays like `sums` to arrays like `spread`; `sums` <- for each of its elements
// the sum of the places of `spread` that it is copied to. Sums of float32 are added up in double.
void sum_strided(const StridedPlan& plan, const Tensor& spread, const Tensor& sums,
                 KernelContext& context);

// Kernels of an operator whose output repeats its input along plan(params, in, out).
template <class P, StridedPlan (*plan)(const P&, const Shape& in, const Shape& out)>
struct Repeated {
  static void copy(const P& params, KernelContext& context) {
    const Tensor& in = context.in(0);
    const Tensor& out = context.out(0);
    copy_strided(context, plan(params, in.shape(), out.shape()), in.data, out.data,
                 dtype_size(in.dtype));
  }
  static void sum(const P& params, KernelContext& context) {
    const Tensor& spread = context.in(0);
    const Tensor& sums = context.out(0);
    sum_strided(plan(params, sums.shape(), spread.shape()), spread, sums, context);
  }
};

}  // namespace mxnet
