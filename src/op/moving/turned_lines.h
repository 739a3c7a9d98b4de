// SPDX-License-Identifier: Apache-2.0
// Transpositions by whole lines, each of which is one register: for processors with AVX-512.
#pragma once
#include <cstdint>

#include "op/moving/strided_kernels.h"

namespace mxnet {

// Does what a tile kernel does (op/moving/strided_kernels.h). False, and nothing done, where other
// loops are as fast, or the processor has no such registers.
bool turn_lines(const char* in, char* out, const StridedLoop& outer, const StridedLoop& inner,
                int64_t width, bool past_caches);

}  // namespace mxnet
