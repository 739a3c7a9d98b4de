// SPDX-License-Identifier: Apache-2.0
// Where each thread keeps its caches of every kind: one table, however many kinds there are.
#pragma once
#include <cstddef>
#include <memory>
#include <span>

namespace mxnet::onednn {

class LruEntries;

// The place of one more kind of cache in the table of every thread. Thread-safe.
std::size_t new_cache_slot();
// What the calling thread keeps there; null until it puts something.
std::shared_ptr<LruEntries>& cache_in_slot(std::size_t slot);
// All that it keeps, null where it keeps nothing.
std::span<const std::shared_ptr<LruEntries>> thread_caches();

}  // namespace mxnet::onednn
