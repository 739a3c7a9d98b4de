// SPDX-License-Identifier: Apache-2.0
// Which of AMD's processors this is, for the few choices that follow from how one was made, and not
// from what instructions it has.
#pragma once
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace mxnet {

inline constexpr unsigned kZen3And4 = 0x19, kZen5 = 0x1A;

// The family's number; 0 for all others.
inline unsigned amd_family() noexcept {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__builtin_cpu_is("amd") == 0 || __get_cpuid(1, &a, &b, &c, &d) == 0) return 0;
  return (a >> 8 & 0xf) + (a >> 20 & 0xff);
#else
  return 0;
#endif
}

}  // namespace mxnet
