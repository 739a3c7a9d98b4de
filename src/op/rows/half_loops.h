// SPDX-License-Identifier: Apache-2.0
// Arithmetic on float16 whose numbers stay in registers between the conversions, where the
// processor has them.
#pragma once
#include <cstdint>

#include "base/half.h"
#include "op/rows/binary_loops.h"

namespace mxnet {

// The loops of add, subtract, multiply, divide, maximum and minimum; null for other rows and
// processors, whose callers go through float.
BinaryLoop<float16, float16> half_loop(BinaryRow row);

}  // namespace mxnet
