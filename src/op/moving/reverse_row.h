// SPDX-License-Identifier: Apache-2.0
// Rows copied backwards, or every second element of them, by the widest instructions of the CPU.
#pragma once
#include <cstdint>

namespace mxnet {

// `rows` rows of n elements of kWidth bytes (1, 2, 4 or 8): the first of `out` is the one at
// `last`, the next one lies before it. Steps between rows in bytes. Nothing need be aligned,
// nothing may overlap. REQUIRES: n * kWidth >= kLeastReversed.
inline constexpr int64_t kLeastReversed = 16;
template <int kWidth>
void reverse_rows(const char* last, int64_t in_step, char* out, int64_t out_step, int64_t n,
                  int64_t rows);

// `rows` rows of n elements of kWidth bytes (1, 2, 4 or 8): the first is the one at `in`, one is
// left out after each. REQUIRES: n * kWidth >= kLeastReversed.
template <int kWidth>
void alternate_rows(const char* in, int64_t in_step, char* out, int64_t out_step, int64_t n,
                    int64_t rows);

}  // namespace mxnet
