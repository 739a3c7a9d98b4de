// SPDX-License-Identifier: Apache-2.0
// Blocks of host memory that stand for a device's: between two guards, whose bytes tell who has
// written beside a block, and filled with bytes that are NaN in every floating type and -1 in every
// integer, so that nobody lives on zeros that a real device would not have. Under the address
// sanitizer guards are poisoned: whoever reads or writes there ends the program at once.
#pragma once
#include <cstddef>

namespace mxnet::testing {

inline constexpr std::size_t kMemoryGuard =
    4096;  // bytes before a block, and as many at least behind
inline constexpr unsigned char kUnwritten = 0xff, kGuardByte = 0xfb;

// As far aligned as the guard is long; null where there is no memory.
void* allocate_guarded(std::size_t bytes);
void free_guarded(void* data, std::size_t bytes);
// Whether nobody has written beside the block of so many bytes; says on stderr where somebody has.
bool guards_hold(const void* data, std::size_t bytes);
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kGuardsArePoisoned = true;
#else
inline constexpr bool kGuardsArePoisoned = false;
#endif

}  // namespace mxnet::testing
