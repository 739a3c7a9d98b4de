// SPDX-License-Identifier: Apache-2.0
// Rows of elements as the keys of op/sort_key.h and back, by the widest instructions of the CPU.
#pragma once
#include "op/sort_key.h"
#include "op/sort_rows.h"

namespace mxnet {

// keys[i] = to_key(values[i], flip).
template <class T>
void keys_of(const T* values, SortKey<T>* keys, int64_t n, SortKey<T> flip);

// The same with positions, which count from 0. n <= 2^32.
template <class T>
void keyed_of(const T* values, Keyed<SortKey<T>>* keys, int64_t n, SortKey<T> flip);

// values[i] = from_key(keys[i], flip).
template <class T>
void values_of(const SortKey<T>* keys, T* values, int64_t n, SortKey<T> flip);

}  // namespace mxnet
