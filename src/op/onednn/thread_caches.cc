// SPDX-License-Identifier: Apache-2.0
// A vector for each thread, behind a pointer.
#include "op/onednn/thread_caches.h"
#include "base/of_thread.h"

#include <atomic>
#include <vector>

namespace mxnet::onednn {

std::size_t new_cache_slot() {
  static std::atomic<std::size_t> slots{0};
  // Relaxed: only the numbers matter.
  return slots.fetch_add(1, std::memory_order_relaxed);
}

std::shared_ptr<void>& cache_in_slot(std::size_t slot) {
  auto& caches = of_thread<std::vector<std::shared_ptr<void>>>();
  if (slot >= caches.size()) caches.resize(slot + 1);
  return caches[slot];
}

}  // namespace mxnet::onednn
