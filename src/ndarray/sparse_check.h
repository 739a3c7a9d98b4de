// SPDX-License-Identifier: Apache-2.0
// Whether a sparse array's indices describe an array. They come from callers and files, so nothing
// may be read or written through them before somebody has looked.
#pragma once
#include "ndarray/ndarray.h"

namespace mxnet {

// Sizes of the parts fit each other, indptr ascends from 0 to the number of values, indices lie
// inside the shape: what memory safety needs. REQUIRES: host memory; inside an operation or after a
// wait. Throws Error(kValue) that names the offending entry. A dense array passes.
void require_safe_format(const NDArray& array);
// And what merging needs: that rows ascend strictly, and that no column is twice in a row of csr.
void require_distinct_format(const NDArray& array);

// The same but for the columns of csr, which the caller looks at while it follows them.
void require_rows_format(const NDArray& array);

// Whether a check has found that indices ascend strictly within their row, and nobody has written
// the array since. REQUIRES: as require_safe_format(). Looks at no index.
bool is_known_ascending(const NDArray& array);

// Waits and checks, on any device: sizes and ends only, or with `full` also what
// require_safe_format looks at and that indices ascend strictly within their row.
void check_format(const NDArray& array, bool full);

}  // namespace mxnet
