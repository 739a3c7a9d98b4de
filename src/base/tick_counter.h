// SPDX-License-Identifier: Apache-2.0
// The processor's own counter of time, for stamps that are taken more often than a call of the
// system's clock allows.
#pragma once
#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace mxnet {

// Whether the counter ticks at one rate in all power states and alike on all cores, hence is a
// clock. The processor says the first and the kernel the second.
bool tick_counter_is_clock();

// REQUIRES: tick_counter_is_clock().
inline uint64_t read_tick_counter() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return 0;
#endif
}

}  // namespace mxnet
