// SPDX-License-Identifier: Apache-2.0
// Views that gradients flow through: as NDArray's own, and on the tape while the thread records, as
// the operators that compute the same values.
#pragma once
#include "ndarray/ndarray.h"

namespace mxnet {

NDArray recorded_slice(NDArray& array, int64_t begin, int64_t end);  // rows [begin, end)
NDArray recorded_at(NDArray& array, int64_t index);
NDArray recorded_reshape(NDArray& array, const Shape& shape);

}  // namespace mxnet
