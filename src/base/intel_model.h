// SPDX-License-Identifier: Apache-2.0
// Which of Intel's processors this is, as base/amd_family.h for AMD's.
#pragma once
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace mxnet {

// A server of the Skylake generations, which share a number; figures are of a Cascade Lake. Later
// ones see by themselves that whole lines are written. False without AVX, which the loops for it
// use: a system may keep it from programs.
inline bool is_cascade_lake() noexcept {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__builtin_cpu_is("intel") == 0 || __builtin_cpu_supports("avx") == 0 ||
      __get_cpuid(1, &a, &b, &c, &d) == 0)
    return false;
  return (a >> 8 & 0xf) == 6 && ((a >> 12 & 0xf0) | (a >> 4 & 0xf)) == 0x55;
#else
  return false;
#endif
}

}  // namespace mxnet
