// SPDX-License-Identifier: Apache-2.0
// Asks the processor once.
#include "base/simd.h"

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

}  // namespace mxnet
