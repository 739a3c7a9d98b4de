// SPDX-License-Identifier: Apache-2.0
// Element types converted one into the other, in host memory.
#pragma once
#include <cstdint>

#include "base/dtype.h"

namespace mxnet {

// As C converts: floating to integer drops the fraction (out of range, where C is undefined, as x86
// does: the lowest integer), integers wrap, anything but zero is true. The ranges must not overlap.
void convert_elements(void* to, DType to_dtype, const void* from, DType from_dtype, int64_t count);

}  // namespace mxnet
