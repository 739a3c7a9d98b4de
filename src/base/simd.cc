// SPDX-License-Identifier: Apache-2.0
// Asks the processor once.
#include "base/simd.h"

#include <algorithm>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace mxnet {

int simd_level() {
#if defined(__x86_64__)
  static const int level = [] {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512cd")) {
      return 2;
    }
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 1 : 0;
  }();
  return level;
#else
  return 0;
#endif
}

int simd_level_for_traffic() {
#if defined(__x86_64__)
  static const int level = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    const bool known = __get_cpuid(1, &a, &b, &c, &d) != 0;
    const unsigned family = (a >> 8 & 0xf) + (a >> 20 & 0xff);
    constexpr unsigned kZen3And4 = 0x19;
    return known && __builtin_cpu_is("amd") && family == kZen3And4 ? std::min(simd_level(), 1)
                                                                   : simd_level();
  }();
  return level;
#else
  return 0;
#endif
}

}  // namespace mxnet
