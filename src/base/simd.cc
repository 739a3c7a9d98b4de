// SPDX-License-Identifier: Apache-2.0
// Asks the processor once.
#include "base/simd.h"

#include <algorithm>

#include "base/processor_facts.h"

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
  static const int level =
      processor_facts().halves_wide_vectors ? std::min(simd_level(), 1) : simd_level();
  return level;
}

}  // namespace mxnet
