// SPDX-License-Identifier: Apache-2.0
// row_sparse arrays: sums of several, and the rows that somebody asks for.
#pragma once
#include <span>
#include <vector>

#include "ndarray/ndarray.h"

namespace mxnet::kvstore {

// REQUIRES, of both: inside an operation, arrays in host memory.

// `to` holds every row that one of `from` holds, in ascending order, also those that cancel to
// zero. Rows are added in the order of `from`, from the left.
void sum_rows(std::span<const NDArray> from, const NDArray& to);

// `to` holds exactly the rows that `row_ids` names (numbers of any type, in any order, repeated or
// not), ascending; those that `from` does not hold are zero. Throws Error(kIndex) for a row outside
// of the shape.
void take_rows(const NDArray& from, const NDArray& row_ids, const NDArray& to);

}  // namespace mxnet::kvstore
