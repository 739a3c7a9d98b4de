// SPDX-License-Identifier: Apache-2.0
// Bytes looked up in a table of what each becomes, by the widest instructions that the CPU has.
#pragma once
#include <cstdint>

namespace mxnet {

// y[i] = table[x[i]], of 256 entries; `y` is apart from `x`, or the same. Thread-safe.
void look_up_bytes(const uint8_t* table, const uint8_t* x, uint8_t* y, int64_t n) noexcept;

}  // namespace mxnet
