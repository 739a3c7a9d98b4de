// SPDX-License-Identifier: Apache-2.0
// Code compiled for several instruction sets in one file, chosen at run time. A .cc defines
// MX_SIMD_FILE to the file that holds its loops (.inc, included once a set, inside a namespace of
// its own) and includes base/simd_targets.h; MX_SIMD_CALL picks. Loops of wide sets alone:
// base/simd_wide_targets.h and MX_SIMD_WIDE_AT.
#pragma once

#include "base/cpu_info.h"

namespace mxnet {

// What loops may use: what the CPU has, up to MXNET_CPU_VECTOR_LEVEL.
const CpuFeatures& simd_features() noexcept;
// The widest set in it: 0 = the baseline (x86-64-v2), 1 = AVX2 + FMA (v3), 2 = AVX-512 (v4).
int simd_level() noexcept;
// The one for loops that do little but wait for memory: where 512 bits are worked on in halves
// (AMD's Zen 4), stores of 256 bits reach more of its bandwidth.
int simd_level_for_traffic() noexcept;

// The table behind both: `has` without what is above `level`, and the widest level in `has`.
CpuFeatures within_level(CpuFeatures has, int level) noexcept;
int level_of(const CpuFeatures& has) noexcept;

}  // namespace mxnet

#if defined(__x86_64__)
// The name of the namespace for a level (variadic: the arguments of a template have commas).
#define MX_SIMD_AT(level, ...)            \
  ((level) == 2   ? &simd_v4::__VA_ARGS__ \
   : (level) == 1 ? &simd_v3::__VA_ARGS__ \
                  : &simd_v2::__VA_ARGS__)
// Null at the level of the baseline.
#define MX_SIMD_WIDE_AT(level, ...) \
  ((level) == 2 ? &simd_v4::__VA_ARGS__ : (level) == 1 ? &simd_v3::__VA_ARGS__ : nullptr)
#else
#define MX_SIMD_AT(level, ...) (&simd_v2::__VA_ARGS__)
#define MX_SIMD_WIDE_AT(level, ...) nullptr
#endif
// Before a loop whose steps do not depend on each other, whatever its pointers point to.
#if defined(__clang__)
#define MX_INDEPENDENT_STEPS _Pragma("clang loop vectorize(assume_safety)")
#else
#define MX_INDEPENDENT_STEPS _Pragma("GCC ivdep")
#endif
// The name `f` of the namespace for this CPU.
#define MX_SIMD_CALL(f) MX_SIMD_AT(::mxnet::simd_level(), f)
#define MX_SIMD_CALL_FOR_TRAFFIC(f) MX_SIMD_AT(::mxnet::simd_level_for_traffic(), f)
