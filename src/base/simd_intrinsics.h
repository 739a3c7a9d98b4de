// SPDX-License-Identifier: Apache-2.0
// The vector instructions of the processor by their names, for what loops cannot say. Only
// functions that base/simd_targets.h compiles for a set may use those of that set.
#pragma once
#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12's own header, not ours
#endif
#include <immintrin.h>
#endif
