// SPDX-License-Identifier: Apache-2.0
// Asks for a cache line that this thread will write soon, whoever has it now. A hint: any address
// will do, null too.
#pragma once

namespace mxnet {

inline void prefetch_for_write(const void* line) {
#if defined(__x86_64__)
  // The builtin's instruction of the baseline would ask for reading: a write asks again.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));
#else
  __builtin_prefetch(line, 1);
#endif
}

}  // namespace mxnet
