// SPDX-License-Identifier: Apache-2.0
// Arrays of half types as float32 and back, by as many threads as pay.
#pragma once
#include <cstdint>

#include "base/dtype.h"

namespace mxnet {

// REQUIRES: `dtype` is float16 or bfloat16.
void widen(DType dtype, const void* from, float* to, int64_t count);
void narrow(const float* from, DType dtype, void* to, int64_t count);

}  // namespace mxnet
