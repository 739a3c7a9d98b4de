// SPDX-License-Identifier: Apache-2.0
// Includes MX_SIMD_FILE once an instruction set. No guard: each .cc includes it once, at namespace
// scope. What the loops call must be defined in the .inc or always inlined, so that no function
// compiled for a wide set can be picked by the linker for others.
namespace simd_v2 {
#include MX_SIMD_FILE
}
#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("arch=x86-64-v3"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v3")
#endif
namespace simd_v3 {
#include MX_SIMD_FILE
}
#if defined(__clang__)
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("arch=x86-64-v4"))), apply_to = function)
#else
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v4,prefer-vector-width=512")
#endif
namespace simd_v4 {
#include MX_SIMD_FILE
}
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
