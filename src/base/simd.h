// SPDX-License-Identifier: Apache-2.0
// Code compiled for several instruction sets in one file, chosen at run time. A .cc defines
// MX_SIMD_FILE to the file that holds its loops (.inc, included once a set, inside a namespace of
// its own) and includes base/simd_targets.h; MX_SIMD_CALL picks.
#pragma once

namespace mxnet {

// Widest set of this CPU: 0 = the baseline (x86-64-v2), 1 = AVX2 + FMA (v3), 2 = AVX-512 (v4).
int simd_level();

}  // namespace mxnet

#if defined(__x86_64__)
// The name `f` of the namespace for this CPU.
#define MX_SIMD_CALL(f)                       \
  (::mxnet::simd_level() == 2   ? &simd_v4::f \
   : ::mxnet::simd_level() == 1 ? &simd_v3::f \
                                : &simd_v2::f)
#else
#define MX_SIMD_CALL(f) (&simd_v2::f)
#endif
