// SPDX-License-Identifier: Apache-2.0
// Sparse float32 arrays for tests, made from what they store.
#pragma once
#include "exec/arrays.h"

namespace mxnet {

using Indices = std::vector<int64_t>;

// Unchecked, as callers of the C ABI may make them.
NDArray row_sparse_of(Shape shape, Indices rows, Values values);
NDArray csr_of(Shape shape, Indices indptr, Indices columns, Values values);
// A dense matrix in another layout.
NDArray cast_to(StorageType type, NDArray array);

// All elements, whatever the layout.
Values elements_of(const NDArray& array);
// What is stored: the numbers of rows, or columns.
Indices indices_of(const NDArray& array, int aux = 0);

}  // namespace mxnet
