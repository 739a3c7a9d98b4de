// SPDX-License-Identifier: Apache-2.0
// What all operators share that give an array another shape and leave its elements as they lie.
#pragma once
#include "op/op_builder.h"
#include "op/run/gpu.h"

namespace mxnet {

// Copies the elements of input 0 unless it is the output already.
void copy_elements(const Tensor& in, const Tensor& out, KernelContext& context);

template <class P>
void reshape_cpu(const P&, KernelContext& context) {
  copy_elements(context.in(0), context.out(0), context);
}

// The gradient of input 0 in its shape; other inputs get none.
Gradients reshape_back(Grad& grad);

template <class P>
Gradients reshape_grad(const P&, Grad& grad) {
  return reshape_back(grad);
}

// Gives `out` the shape `result`, which must hold the elements of `in`.
void set_reshaped(Infer& infer, const Shape& result);
// From the output's size to the one dimension of the input that is unknown, if so.
void infer_missing_dim(Infer& infer);

}  // namespace mxnet
