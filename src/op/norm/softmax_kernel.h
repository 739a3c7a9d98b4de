// SPDX-License-Identifier: Apache-2.0
// Softmax along rows of any layout and of any floating types, and its gradient: for the softmax
// operators and for the losses that begin with one.
#pragma once
#include "op/loops/row_io.h"

namespace mxnet {

enum class SoftmaxKind : uint8_t { kSoftmax, kLog };

struct SoftmaxCall {
  SoftmaxKind kind = SoftmaxKind::kSoftmax;
  RowLayout rows;
  double scale = 1.0;  // what the data is multiplied by first
  // int32 or int64, one a row: how many elements of it take part. The rest of the result is zero.
  const Tensor* lengths = nullptr;
};

// `in` and `out` may differ in type.
void softmax_forward(const SoftmaxCall& call, const Tensor& in, const Tensor& out,
                     KernelContext& context);
// `y` is what softmax_forward gave.
void softmax_backward(const SoftmaxCall& call, const Tensor& dy, const Tensor& y, const Tensor& dx,
                      KernelContext& context);

}  // namespace mxnet
