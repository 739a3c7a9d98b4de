// SPDX-License-Identifier: Apache-2.0
// The tape as a symbol: what was recorded, for saving and for looking at.
#pragma once
#include "graph/symbol.h"
#include "ndarray/ndarray.h"

namespace mxnet {

// The operators that computed `array`, with variables var0, var1, ... where recording began. Throws
// Error(kValue) for an array that nothing was recorded of, after its graph was freed, and where a
// function of the user is part of it.
Symbol tape_symbol(const NDArray& array);

}  // namespace mxnet
