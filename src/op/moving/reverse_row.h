// SPDX-License-Identifier: Apache-2.0
// Rows copied backwards, or every second element of them, by the widest instructions of the CPU.
#pragma once
#include <cstdint>

namespace mxnet {

// n elements of kWidth bytes (1, 2, 4, 8 or 16): the first of `out` is the one at `last`, the next
// one lies before it. Nothing need be aligned, nothing may overlap.
template <int kWidth>
void reverse_row(const char* last, char* out, int64_t n);

// n elements of kWidth bytes (4 or 8): the first is the one at `in`, one is left out after each.
template <int kWidth>
void alternate_row(const char* in, char* out, int64_t n);

}  // namespace mxnet
