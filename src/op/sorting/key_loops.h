// SPDX-License-Identifier: Apache-2.0
// Rows of elements as the keys of op/sorting/sort_key.h, sorted or the best of them selected, and
// back, by the widest instructions of the CPU.
#pragma once
#include <algorithm>

#include "op/sorting/sort_key.h"
#include "op/sorting/sort_rows.h"

namespace mxnet {

// keys[i] = to_key<T, false>(values[i], flip): -0 is below 0.
template <class T>
void keys_of(const T* values, SortKey<T>* keys, int64_t n, SortKey<T> flip);

// The same with positions, which count from 0. n <= 2^32.
template <class T>
void keyed_of(const T* values, Keyed<SortKey<T>>* keys, int64_t n, SortKey<T> flip);

// The least and the greatest of 64-bit keys, and the bits in which any two of them differ.
struct KeyRange {
  uint64_t least, most, varying;
  void join(const KeyRange& other) {
    varying |= other.varying | (least ^ other.least);
    least = std::min(least, other.least);
    most = std::max(most, other.most);
  }
};
// Of those of values[0, n). 0 < n.
template <class T>
KeyRange range_of(const T* values, int64_t n, uint64_t flip);

// items[i] = what the 64-bit key is above `least`, without the lowest `dropped` bits, and behind it
// the position first + i in the lowest `bits`. Together they fit.
template <class T>
void keyed_above(const T* values, int64_t first, uint64_t* items, int64_t n, uint64_t flip,
                 uint64_t least, int dropped, int bits);

// Whether any two of those next to each other are equal but for their lowest `bits`.
bool neighbours_share_keys(const uint64_t* items, int64_t n, int bits);

// values[i] = from_key(keys[i], flip).
template <class T>
void values_of(const SortKey<T>* keys, T* values, int64_t n, SortKey<T> flip);

// out[0, n) = the values in the order of their keys. `spare` has room for n; no two of the three
// overlap, but out may be values.
template <class T>
void sort_values(const T* values, T* out, SortKey<T>* spare, int64_t n, SortKey<T> flip);

// room[0, k) = the k smallest of the keys of values[0, n), sorted. `room` is for
// selection_room(k) items. k <= n <= 2^32.
inline int64_t selection_room(int64_t k) { return 4 * k + 192; }
template <class T>
void select_keyed(const T* values, int64_t n, int64_t k, SortKey<T> flip, Keyed<SortKey<T>>* room);

// Whether that sorts little but what it finds, here and of so many: sooner than all are sorted.
template <class T>
bool selects_soon(int64_t n, int64_t k);

}  // namespace mxnet
