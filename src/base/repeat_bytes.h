// SPDX-License-Identifier: Apache-2.0
// Memory filled with a pattern.
#pragma once
#include <cstdint>

namespace mxnet {

inline constexpr int64_t kPatternBytes = 32;
// Bytes from which on it is worth a call.
inline constexpr int64_t kLongPattern = 2048;

// Continues the pattern at `out` up to `bytes`. REQUIRES: bytes >= kPatternBytes.
void repeat_bytes(char* out, int64_t bytes) noexcept;

}  // namespace mxnet
