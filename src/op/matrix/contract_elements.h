// SPDX-License-Identifier: Apache-2.0
// Contractions that need no product of matrices, and what others do with one array at a time.
#pragma once
#include <cstddef>
#include <span>

#include "op/matrix/matrix_form.h"

namespace mxnet::contraction {

// out = in over all labels that `to` moves along. Elements of 1, 2, 4 or 8 bytes.
void copy_labels(Dims dims, const Strides& from, const Strides& to, const void* in, void* out,
                 std::size_t element_bytes);

// Labels of an array whose elements follow each other, in their order; none where something else
// lies in between or twice.
Labels labels_of_dense(Dims dims, const Strides& strides);
// The same of two arrays whose elements follow each other in the same order; none of others.
Labels labels_alike(Dims dims, const Strides& a, const Strides& b);
// Sums of such an array of `type`, `kept` of whose labels stay, by the loops and threads of
// reductions: of float32, float64, uint8 and longer integers, which wrap.
void sum_dense(Dims dims, const Labels& labels, const Labels& kept, DType type, const void* data,
               void* sums);

// The whole of a contraction (without factors) if it moves elements, adds bytes or multiplies
// elements that meet once, in the type that they have: false where it is none of these.
bool contract_elements(Dims dims, std::span<const Labelled> in, const Labelled& out,
                       KernelContext& context);

}  // namespace mxnet::contraction
