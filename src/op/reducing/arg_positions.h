// SPDX-License-Identifier: Apache-2.0
// Positions of extreme elements. The first of equal elements wins; a NaN wins over all numbers.
#pragma once
#include "op/kernel.h"
#include "op/loops/row_io.h"

namespace mxnet {

// Where in each of `rows` its largest or smallest element is, in the type of `out`: int64, or that
// of `in`. The rows are not empty.
void find_positions(bool largest, const RowLayout& rows, const Tensor& in, const Tensor& out,
                    const char* tag);

}  // namespace mxnet
