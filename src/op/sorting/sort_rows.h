// SPDX-License-Identifier: Apache-2.0
// Stable sorting of one row of keys.
#pragma once
#include <cstdint>

namespace mxnet {

// A key and where its element stood. Equal keys are ordered by position: every sort is stable. The
// position comes first, so that on little-endian machines one of a 32-bit key is a 64-bit number of
// the same order.
template <class K>
struct Keyed {
  uint32_t at;
  K key;
  Keyed() = default;
  Keyed(K key, uint32_t at) : at(at), key(key) {}
  bool operator<(const Keyed& other) const {
    return key < other.key || (key == other.key && at < other.at);
  }
};

// Sorts keys[0, n) in place; `spare` has room for n. K: uint8_t ... uint64_t.
template <class K>
void sort_keys(K* keys, K* spare, int64_t n);

// The same for keys with positions, of which those of equal keys come in ascending order.
template <class K>
void sort_keyed(Keyed<K>* keys, Keyed<K>* spare, int64_t n);

}  // namespace mxnet
