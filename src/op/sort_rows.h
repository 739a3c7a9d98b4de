// SPDX-License-Identifier: Apache-2.0
// Stable sorting and selection of one row of keys.
#pragma once
#include <algorithm>
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

// The same for keys with positions, which come in ascending order.
template <class K>
void sort_keyed(Keyed<K>* keys, Keyed<K>* spare, int64_t n);

// out[0, k) = the k smallest of the keys key_at(0) ... key_at(n - 1), sorted. `room` has space for
// selection_room(n, k) items. k <= n < 2^32.
inline int64_t selection_room(int64_t n, int64_t k) { return std::min(n, 2 * k + 64); }

template <class K, class KeyAt>
void select_keyed(const KeyAt& key_at, int64_t n, int64_t k, Keyed<K>* room) {
  const int64_t size = selection_room(n, k);
  int64_t kept = 0, i = 0;
  for (; i < size; ++i) room[kept++] = {key_at(i), static_cast<uint32_t>(i)};
  // Most of the others lose against the k-th best so far and are only looked at. Positions ascend,
  // so an equal key comes later and loses.
  while (i < n) {
    std::nth_element(room, room + k - 1, room + kept);
    kept = k;
    const K bound = room[k - 1].key;
    for (; i < n && kept < size; ++i) {
      const K key = key_at(i);
      if (key < bound) room[kept++] = {key, static_cast<uint32_t>(i)};
    }
  }
  if (k < kept) std::nth_element(room, room + k - 1, room + kept);
  std::sort(room, room + k);
}

}  // namespace mxnet
