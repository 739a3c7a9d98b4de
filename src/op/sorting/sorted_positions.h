// SPDX-License-Identifier: Apache-2.0
// A row's positions in the order of its elements.
#pragma once
#include "op/sorting/key_loops.h"

namespace mxnet {

// Items that sorted_positions() needs room for.
template <class K>
constexpr int64_t positions_room(int64_t n) {
  return sizeof(K) == 8 ? n : 2 * n;
}

// The positions of values[0, n) in the order of their keys, those of equal keys ascending. They lie
// in `room`. 0 < n <= 2^32.
template <class T>
const uint32_t* sorted_positions(const T* values, int64_t n, SortKey<T> flip,
                                 Keyed<SortKey<T>>* room);

}  // namespace mxnet
