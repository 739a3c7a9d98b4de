// SPDX-License-Identifier: Apache-2.0
// Sorting of keys by the vector instructions of the CPU.
#pragma once
#include <bit>
#include <cstdint>

#include "op/sorting/sort_key.h"

namespace mxnet {

// Whether the CPU has instructions that help.
bool sorts_by_vectors();

// Sorts keys[0, n) in place, turns each into the bits of the element that it is the key of
// (from_key with `flip`), and returns true; false, with nothing done, where none do. A part that is
// still long after `depth` partitions, whose pivots must have been bad, is sorted by a heap.
// Thread-safe. T has 32 or 64 bits.
template <class T>
bool sort_by_vectors(SortKey<T>* keys, int64_t n, SortKey<T> flip, int depth);

// The same with twice as many partitions as good pivots need.
template <class T>
bool sort_by_vectors(SortKey<T>* keys, int64_t n, SortKey<T> flip) {
  return sort_by_vectors<T>(keys, n, flip, 2 * std::bit_width(static_cast<uint64_t>(n)) + 4);
}

}  // namespace mxnet
