// SPDX-License-Identifier: Apache-2.0
// Rows of elements as the keys of op/sorting/sort_key.h, sorted or the best of them selected, and
// back, by the widest instructions of the CPU.
#pragma once
#include "op/sorting/sort_key.h"
#include "op/sorting/sort_rows.h"

namespace mxnet {

// keys[i] = to_key(values[i], flip).
template <class T>
void keys_of(const T* values, SortKey<T>* keys, int64_t n, SortKey<T> flip);

// The same with positions, which count from 0. n <= 2^32.
template <class T>
void keyed_of(const T* values, Keyed<SortKey<T>>* keys, int64_t n, SortKey<T> flip);

// The same with what 64-bit keys are above the least of them, where that is below 2^32 for all of
// values[0, n), as it is for counts, ids and times; false, with `keys` undefined, where it is not.
template <class T>
bool keyed_above_least(const T* values, Keyed<uint32_t>* keys, int64_t n, SortKey<T> flip);

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

}  // namespace mxnet
