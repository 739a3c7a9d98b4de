// SPDX-License-Identifier: Apache-2.0
// Halves rounded to whole numbers, which stay in registers between the conversions.
#pragma once
#include <cstdint>

#include "base/half.h"

namespace mxnet {

// Whether the processor converts registers of halves.
bool rounds_halves();

// out[i] = the whole number nearest to in[i], ties to even ones. `out` may be `in`. T: float16 or
// bfloat16. REQUIRES: rounds_halves()
template <class T>
void round_halves(const T* in, T* out, int64_t n);

}  // namespace mxnet
