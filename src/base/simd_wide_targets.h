// SPDX-License-Identifier: Apache-2.0
// base/simd_targets.h without the baseline: for loops that are worth nothing on its vectors.
// MX_SIMD_WIDE_AT picks.
#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("arch=x86-64-v3"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v3")
#endif
namespace simd_v3 {
[[maybe_unused]] constexpr int kSimdBytes = 32;
#include MX_SIMD_FILE
}  // namespace simd_v3
#if defined(__clang__)
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("arch=x86-64-v4"))), apply_to = function)
#else
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v4,prefer-vector-width=512")
#endif
namespace simd_v4 {
[[maybe_unused]] constexpr int kSimdBytes = 64;
#include MX_SIMD_FILE
}  // namespace simd_v4
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
