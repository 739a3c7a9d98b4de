// SPDX-License-Identifier: Apache-2.0
// Includes MX_SIMD_FILE once an instruction set. No guard: each .cc includes it once, at namespace
// scope. What the loops call must be defined in the .inc or always inlined, so that no function
// compiled for a wide set can be picked by the linker for others. kSimdBytes is the width of a
// vector register of the set. The baseline, which few processors are left for, has vectors as
// the others, but not what -O3 adds to them: a tenth of its code.
#if !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O2", "vect-cost-model=dynamic")
#endif
namespace simd_v2 {
[[maybe_unused]] constexpr int kSimdBytes = 16;
#include MX_SIMD_FILE
}  // namespace simd_v2
#if !defined(__clang__)
#pragma GCC pop_options
#endif
#include "base/simd_wide_targets.h"
