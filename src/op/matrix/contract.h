// SPDX-License-Identifier: Apache-2.0
// Sums of products over named dimensions: what dot, matmul, tensordot, einsum and the gradients of
// all of them are. A label is a dimension of the whole problem; each array says how far it moves
// when the label counts one up.
#pragma once
#include <cstdint>
#include <span>

#include "op/inline_vector.h"
#include "op/kernel.h"

namespace mxnet {

using Strides = InlineVector<int64_t, 8>;

// An array and its stride for each label: 0 = the label is not among its dimensions (or is
// broadcast); the sum of two where a dimension occurs twice (a diagonal).
struct Labelled {
  Tensor tensor;
  Strides strides;
};

// out = alpha * sum(product of in) + beta * out, where labels that `out` lacks are summed. What the
// labels of `out` do not reach (outside of a diagonal) becomes 0. All tensors are of one type;
// half types are computed in float, integers modulo 2^32 or, of 64 bits, 2^64.
void contract(std::span<const int64_t> dims, std::span<const Labelled> in, const Labelled& out,
              KernelContext& context, double alpha = 1.0, double beta = 0.0);

// Strides of a row-major array.
Strides row_major(const Shape& shape);

}  // namespace mxnet
