// SPDX-License-Identifier: Apache-2.0
// Memory filled with a pattern.
#pragma once
#include <cstdint>

namespace mxnet {

inline constexpr int64_t kPatternBytes = 32;
// Bytes from which on it is worth a call.
inline constexpr int64_t kLongPattern = 2048;

// Continues the pattern at `out` up to `bytes`. REQUIRES: bytes >= kPatternBytes. `whole`: bytes
// that are filled one behind the other, of which these are a part.
void repeat_bytes(char* out, int64_t bytes, int64_t whole = 0) noexcept;

}  // namespace mxnet
