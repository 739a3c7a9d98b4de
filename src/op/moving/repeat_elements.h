// SPDX-License-Identifier: Apache-2.0
// Elements that follow each other, each repeated a few times.
#pragma once
#include <cstdint>

namespace mxnet {

// Each of `n` elements of `width` bytes (1, 2, 4 or 8) `count` times side by side. Nothing need be
// aligned, nothing may overlap. REQUIRES: width * count < kLeastSpread.
inline constexpr int64_t kLeastSpread = 16;
void repeat_elements(const char* in, char* out, int64_t n, int64_t width, int64_t count);

}  // namespace mxnet
