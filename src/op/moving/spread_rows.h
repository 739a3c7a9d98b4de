// SPDX-License-Identifier: Apache-2.0
// Elements repeated along short rows, by the widest stores of the CPU.
#pragma once
#include <cstdint>

namespace mxnet {

// `rows` elements of type T (an unsigned integer), each `count` times side by side. Steps in bytes.
// Nothing need be aligned, nothing may overlap. REQUIRES: count * sizeof(T) >= 16.
template <class T>
void spread_short_rows(const char* in, int64_t in_step, char* out, int64_t out_step, int64_t count,
                       int64_t rows);

}  // namespace mxnet
