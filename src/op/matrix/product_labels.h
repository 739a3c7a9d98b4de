// SPDX-License-Identifier: Apache-2.0
// Products of two arrays written as labels: which dimensions meet in dot, batch_dot and NumPy's
// dot, matmul and tensordot. Throw LabelError where shapes do not fit.
#pragma once
#include <span>

#include "op/matrix/labels.h"
#include "op/params/dense_and_sparse.h"

namespace mxnet {

// Of NumPy's dot and matmul, which have none; `wrt` is that of Multilinear, here and below.
struct PlainParams {
  int32_t wrt;
};
struct TensordotParams {
  Shape a_axes_summed, b_axes_summed;
  int32_t wrt;
};
// Over the last `axes` dimensions of a and the first of b.
struct TensordotIntParams {
  int32_t axes;
  int32_t wrt;
};

// The last dimension of a (the first if transposed) with the first of b (the last).
LabelLists dot_labels(const DotParams& params, std::span<const Shape> shapes);
// The last two dimensions are matrices; those before them agree.
LabelLists batch_dot_labels(const DotParams& params, std::span<const Shape> shapes);
// The last dimension of a with the last but one of b; a scalar scales.
LabelLists np_dot_labels(const PlainParams& params, std::span<const Shape> shapes);
// The last two dimensions are matrices; those before them broadcast.
LabelLists matmul_labels(const PlainParams& params, std::span<const Shape> shapes);
LabelLists tensordot_axes_labels(const TensordotParams& params, std::span<const Shape> shapes);
LabelLists tensordot_int_labels(const TensordotIntParams& params, std::span<const Shape> shapes);

}  // namespace mxnet
