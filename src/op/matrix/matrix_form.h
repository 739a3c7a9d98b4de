// SPDX-License-Identifier: Apache-2.0
// From labels to the matrices of a product: which labels are rows, columns and summed, and whether
// strides already form a matrix. Nothing here looks at elements, so that CPU and GPU share it.
#pragma once
#include <initializer_list>
#include <optional>
#include <span>

#include "op/matrix/contract.h"

namespace mxnet::contraction {

using Dims = std::span<const int64_t>;  // of all labels
using Labels = InlineVector<std::size_t, 8>;

int64_t product(Dims dims, const Labels& labels);
// How many elements of an array its labels reach.
int64_t reached(Dims dims, const Strides& strides);

// The step through `labels` as one dimension; nothing where they do not run through. `lone` is the
// answer for a single position.
std::optional<int64_t> joined_stride(Dims dims, const Labels& labels, const Strides& strides,
                                     int64_t lone);

// Longest steps first.
void sort_by(const Strides& strides, Labels* labels);

// Row-major strides over the labels in the order given; 0 for others.
Strides packed_strides(Dims dims, std::initializer_list<const Labels*> groups);

// Rows and columns as BLAS takes them: a row, transposed a column, every `leading` elements.
struct MatrixForm {
  bool transposed;
  int64_t leading;
};
// Nothing where the strides are no matrix's.
std::optional<MatrixForm> matrix_form(Dims dims, const Labels& rows, const Labels& columns,
                                      const Strides& strides);

// Labels by what the product of `a` and `b` makes of them; none of dimensions of one. Those of
// `out` are in its own order, so that it is written where it lies if it can be.
struct Roles {
  Labels batch, rows, columns, summed;
};
Roles roles_of(Dims dims, const Strides& a, const Strides& b, const Strides& out);

}  // namespace mxnet::contraction
