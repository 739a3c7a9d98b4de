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

namespace {
std::vector<std::shared_ptr<LruEntries>>& caches_of_thread() {
  return of_thread<std::vector<std::shared_ptr<LruEntries>>>();
}
}  // namespace

std::span<const std::shared_ptr<LruEntries>> thread_caches() { return caches_of_thread(); }

std::shared_ptr<LruEntries>& cache_in_slot(std::size_t slot) {
  auto& caches = caches_of_thread();
  if (slot >= caches.size()) caches.resize(slot + 1);
  return caches[slot];
}

}  // namespace mxnet::onednn
