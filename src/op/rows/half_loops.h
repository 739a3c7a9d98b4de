// SPDX-License-Identifier: Apache-2.0
// Arithmetic on half types whose numbers stay in registers between the conversions, where the
// processor has them.
#pragma once
#include <cstdint>

#include "base/half.h"
#include "op/rows/binary_loops.h"

namespace mxnet {

// The loops of add, subtract, multiply, divide, maximum, minimum and copysign; null for other rows
// and processors, whose callers go through float. T: float16 or bfloat16.
template <class T>
BinaryLoop<T, T> half_loop(BinaryRow row);

}  // namespace mxnet
