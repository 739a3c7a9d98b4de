// SPDX-License-Identifier: Apache-2.0
// Places below a count that differ from each other, as the words of a stream choose them.
#pragma once
#include <cstdint>

#include "op/generators/mt19937.h"

namespace mxnet {

// `n` of `count` places, the same for the same words whatever the CPU. REQUIRES: n <= count.
void choose_places(Mt19937& stream, int64_t count, int64_t* out, int64_t n);

}  // namespace mxnet
