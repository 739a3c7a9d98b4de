// SPDX-License-Identifier: Apache-2.0
// Dense, row_sparse and csr converted into each other, and slices of csr. Values that compare equal
// to zero (-0.0 too) are not stored; NaN is.
#pragma once
#include <cstdint>

#include "ndarray/ndarray.h"

namespace mxnet {

// Writes `from` into `to` in the layout of `to`; shapes and value types are equal, any index types.
// REQUIRES: inside an operation that reads `from` and writes `to`, both in host memory.
void convert_storage(const NDArray& from, const NDArray& to);

// Gives `to` what `from`, of its layout and shape, has but for the values, for which there is then
// room: whatever describes no array in `from` is as wrong in `to`. Index arrays of one type are
// shared. REQUIRES: as above.
void copy_structure(const NDArray& from, const NDArray& to);

// A new array of layout `type` (with int64 indices), filled by a pushed operation; `from` itself if
// it has that layout.
NDArray cast_storage(const NDArray& from, StorageType type);

// Rows [row_begin, row_end) and columns [column_begin, column_end) of a csr matrix, a copy, filled
// by a pushed operation. Throws Error(kIndex) outside of the matrix, Error(kType) for other
// layouts.
NDArray slice_csr(const NDArray& from, int64_t row_begin, int64_t row_end, int64_t column_begin,
                  int64_t column_end);

}  // namespace mxnet
