// SPDX-License-Identifier: Apache-2.0
// Numbers of threads.
#include "exec/thread_slots.h"

namespace mxnet {

uint32_t thread_number() {
  static std::atomic<uint32_t> threads{0};
  // Relaxed: only the numbers matter.
  thread_local const uint32_t number = threads.fetch_add(1, std::memory_order_relaxed) + 1;
  return number;
}

}  // namespace mxnet
