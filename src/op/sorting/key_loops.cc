// SPDX-License-Identifier: Apache-2.0
// Compiles the loops between elements and keys for each instruction set.
#include "op/sorting/key_loops.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "base/simd.h"
#include "base/simd_intrinsics.h"
#include "op/sorting/vector_sort.h"

namespace mxnet {
namespace {

// Elements that are looked at together when some are selected.
constexpr int64_t kSelectBlock = 32;
// Sets of elements whose least keys say below what the best of all are, and the elements that are
// looked at for that, of fewer than which a sort comes sooner.
constexpr int64_t kSets = 32, kLookedAt = 2048, kLeastLookedAt = 3 * kSets;

// Of fewer keys of 64 bits so many least ones are found one after the other. Where all are sorted
// in registers, that is sooner than to look for more than some by sets, whatever comes next.
constexpr int64_t kMostInTurn = kLeastLookedAt - 1, kBestInTurn = 5;
constexpr int64_t kSortedInRegisters = 128, kBestBesideSort = 7;

// The k smallest of n to the front, sorted. Positions decide between equal keys.
template <class K>
void sort_best(Keyed<K>* keys, Keyed<K>* spare, int64_t n, int64_t k) {
  // Keys of 32 bits are sorted by vectors. For others comparisons are cheaper up to here than the
  // histograms of a radix sort, and only the best few have to be in order.
  constexpr int64_t kFew = 1024;
  if constexpr (sizeof(K) == 8) {
    if (n <= kFew) return std::partial_sort(keys, keys + k, keys + n);
  }
  sort_keyed(keys, spare, n);
}

#define MX_SIMD_FILE "op/sorting/key_loops.inc"
#include "base/simd_targets.h"

}  // namespace

template <class T>
void keys_of(const T* values, SortKey<T>* keys, int64_t n, SortKey<T> flip) {
  MX_SIMD_CALL(keys_of<T>)(values, keys, n, flip);
}

template <class T>
void keyed_of(const T* values, Keyed<SortKey<T>>* keys, int64_t n, SortKey<T> flip) {
  MX_SIMD_CALL(keyed_of<T>)(values, keys, n, flip);
}

template <class T>
KeyRange range_of(const T* values, int64_t n, uint64_t flip) {
  return MX_SIMD_CALL(range_of<T>)(values, n, flip);
}

template <class T>
void keyed_above(const T* values, int64_t first, uint64_t* items, int64_t n, uint64_t flip,
                 uint64_t least, int dropped, int bits) {
  MX_SIMD_CALL(keyed_above<T>)(values, first, items, n, flip, least, dropped, bits);
}

bool neighbours_share_keys(const uint64_t* items, int64_t n, int bits) {
  return MX_SIMD_CALL(neighbours_share_keys)(items, n, bits);
}

template <class T>
void values_of(const SortKey<T>* keys, T* values, int64_t n, SortKey<T> flip) {
  MX_SIMD_CALL(values_of<T>)(keys, values, n, flip);
}

// Not of bool, most of which are equal.
template <class T>
constexpr bool kSelectsByLeast = !std::is_same_v<T, bool>;

template <class T>
bool selects_by_least(int64_t n, int64_t k) {
  const bool sorts = sizeof(T) == 8 && n <= kSortedInRegisters;
  return kSelectsByLeast<T> && n >= kLeastLookedAt && k <= (sorts ? kBestBesideSort : kSets / 2) &&
         simd_level() > 0;
}

template <class T>
bool selects_in_turn(int64_t n, int64_t k) {
  return sizeof(T) == 8 && n <= kMostInTurn && k <= kBestInTurn && simd_level() == 2;
}

template <class T>
bool selects_soon(int64_t n, int64_t k) {
  return selects_in_turn<T>(n, k) || selects_by_least<T>(n, k);
}

template <class T>
void sort_values(const T* values, T* out, SortKey<T>* spare, int64_t n, SortKey<T> flip) {
  // Elements and their keys have the same size: what is sorted are numbers in the memory of `out`.
  auto* const keys = reinterpret_cast<SortKey<T>*>(out);
  keys_of(values, keys, n, flip);
  if constexpr (sizeof(T) >= 4) {
    if (sort_by_vectors<T>(keys, n, flip)) return;
  }
  sort_keys(keys, spare, n);
  values_of(keys, out, n, flip);
}

// A key that at least k of values[0, n) are below, and few more: behind the k-th of the least keys
// of some sets of them. 0 where none is found at once.
template <class T>
SortKey<T> bound_of_best(const T* values, int64_t n, int64_t k, SortKey<T> flip) {
  using K = SortKey<T>;
  if constexpr (kSelectsByLeast<T>) {
    if (selects_by_least<T>(n, k)) {
      const int64_t rounds = std::min(n, kLookedAt) / kSets;
      const auto kth = static_cast<K>(MX_SIMD_CALL(kth_of_sets<T>)(values, rounds, k, flip));
      // Of the order in which zeros meet.
      if (kth != static_cast<K>(~K{0}))
        return static_cast<K>(to_key(from_key<T>(kth, flip), flip) + 1);
    }
  }
  return 0;
}

template <class T>
void select_keyed(const T* values, int64_t n, int64_t k, SortKey<T> flip, Keyed<SortKey<T>>* room) {
  // One of a few is met twice, the first time by vectors, instead of sorted.
  constexpr int64_t kFewToMeet = 3072 / sizeof(T);
  if constexpr (kSelectsByLeast<T>) {
    if (k == 1 && n <= kFewToMeet) {
      const SortKey<T> least = MX_SIMD_CALL(least_of<T>)(values, n, flip);
      uint32_t at = 0;
      while (to_key(values[at], flip) != least) ++at;
      room[0] = {least, at};
      return;
    }
  }
  if constexpr (sizeof(T) == 8) {
    if (selects_in_turn<T>(n, k)) return MX_SIMD_CALL(least_in_turn<T>)(values, n, k, flip, room);
  }
  const int64_t size = selection_room(k) / 2;
  Keyed<SortKey<T>>* const spare = room + size;
  int64_t best = 0, i = 0;  // sorted at the front of `room`, and how many have been looked at
  SortKey<T> bound = bound_of_best(values, n, k, flip);
  if (bound == 0) {
    best = k;
    i = std::min(n, size);
    keyed_of(values, room, i, flip);
    sort_best(room, spare, i, k);
    bound = room[k - 1].key;
  }
  // Most of the others lose against the k-th best so far and are only looked at. Positions ascend,
  // so an equal key comes later and loses. (A buffer that is full has more than k.)
  while (i < n) {
    int64_t kept = best;
    i = MX_SIMD_CALL(append_below<T>)(values, i, n, flip, bound, room, kept, size);
    if (kept > best) sort_best(room, spare, kept, k);
    best = k;
    bound = room[k - 1].key;
  }
}

#define MX_INSTANTIATE(T)                                                    \
  template void keys_of(const T*, SortKey<T>*, int64_t, SortKey<T>);         \
  template void keyed_of(const T*, Keyed<SortKey<T>>*, int64_t, SortKey<T>); \
  template void values_of(const SortKey<T>*, T*, int64_t, SortKey<T>);       \
  template void sort_values(const T*, T*, SortKey<T>*, int64_t, SortKey<T>); \
  template bool selects_soon<T>(int64_t, int64_t);                           \
  template void select_keyed(const T*, int64_t, int64_t, SortKey<T>, Keyed<SortKey<T>>*);
MX_EACH_SORTED_TYPE(MX_INSTANTIATE)
#undef MX_INSTANTIATE
#define MX_INSTANTIATE(T)                                  \
  template KeyRange range_of(const T*, int64_t, uint64_t); \
  template void keyed_above(const T*, int64_t, uint64_t*, int64_t, uint64_t, uint64_t, int, int);
MX_INSTANTIATE(double)
MX_INSTANTIATE(int64_t)
#undef MX_INSTANTIATE

}  // namespace mxnet
