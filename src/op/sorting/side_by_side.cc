// SPDX-License-Identifier: Apache-2.0
// Rows are turned, so that vectors have the first elements of all, then the second ones. Positions
// come from counting, for any number of elements without a branch: of those that are ordered by
// exchanges each would take its position along.
#include "op/sorting/side_by_side.h"

#include <array>
#include <limits>

#include "base/simd.h"
#include "op/moving/strided_kernels.h"
#include "op/sorting/key_loops.h"
#include "op/sorting/vector_sort.h"

// Vectors are passed between functions that are always inlined: no call, no ABI to warn of.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/sorting/side_by_side.inc"
#include "base/simd_wide_targets.h"

constexpr auto kRows = static_cast<std::size_t>(kSideBySide);
// Element i of row r at i * kSideBySide + r.
template <class T>
using Turned = std::array<T, kRows * kRows>;

void turn(const void* rows, int64_t n, int64_t count, int64_t bytes, void* turned) {
  tile_kernel(bytes)(static_cast<const char*>(rows), static_cast<char*>(turned),
                     {n, bytes, kSideBySide * bytes}, {count, n * bytes, bytes}, bytes, false);
}
void turn_back(const void* turned, int64_t n, int64_t count, int64_t bytes, void* rows) {
  tile_kernel(bytes)(static_cast<const char*>(turned), static_cast<char*>(rows),
                     {count, bytes, n * bytes}, {n, kSideBySide * bytes, bytes}, bytes, false);
}

// Keys of rows that are not there are 0.
template <class T>
void turned_keys(const T* rows, int64_t n, int64_t count, SortKey<T> flip,
                 Turned<SortKey<T>>* keys) {
  Turned<T> turned;
  if (count < kSideBySide) turned.fill(T{});
  turn(rows, n, count, sizeof(T), turned.data());
  keys_of(turned.data(), keys->data(), n * kSideBySide, flip);
}

// `keys` tell -0 from 0, which `below_zero` and `zero` are; the same number twice where T has none.
template <class K>
void rank_keys(const Turned<K>& keys, int64_t n, int64_t count, K below_zero, K zero, uint32_t* at,
               int64_t pitch) {
  Turned<int64_t> wide;
  std::array<int64_t, kRows> words;
  MX_SIMD_WIDE_AT(simd_level(), widen<K>)(keys.data(), n, below_zero, zero, wide.data());
  MX_SIMD_WIDE_AT(simd_level(), rank)(wide.data(), n, words.data());
  MX_SIMD_WIDE_AT(simd_level(), unpack)(words.data(), n, count, at, pitch);
}

template <class K>
void sort_keys(Turned<K>* keys, int64_t n) {
  Turned<int64_t> wide;
  MX_SIMD_WIDE_AT(simd_level(), widen<K>)(keys->data(), n, 0, 0, wide.data());
  MX_SIMD_WIDE_AT(simd_level(), sort)(wide.data(), n);
  MX_SIMD_WIDE_AT(simd_level(), narrow<K>)(wide.data(), n, keys->data());
}

}  // namespace

template <class T>
bool positions_side_by_side(const T* rows, int64_t n, int64_t count, SortKey<T> flip, uint32_t* at,
                            int64_t pitch) {
  if (!sorts_by_vectors()) return false;
  Turned<SortKey<T>> keys;
  turned_keys(rows, n, count, flip, &keys);
  SortKey<T> zero = to_key<T, false>(T{}, flip), below_zero = zero;
  if constexpr (kSortsAsReal<T>) below_zero = to_key<T, false>(-T{}, flip);
  rank_keys<SortKey<T>>(keys, n, count, below_zero, zero, at, pitch);
  return true;
}

template <class T>
bool sort_side_by_side(const T* rows, int64_t n, int64_t count, SortKey<T> flip, T* out) {
  if (!sorts_by_vectors()) return false;
  Turned<SortKey<T>> keys;
  Turned<T> turned;
  turned_keys(rows, n, count, flip, &keys);
  sort_keys<SortKey<T>>(&keys, n);
  values_of(keys.data(), turned.data(), n * kSideBySide, flip);
  turn_back(turned.data(), n, count, sizeof(T), out);
  return true;
}

#define MX_INSTANTIATE(T)                                                                 \
  template bool positions_side_by_side(const T*, int64_t, int64_t, SortKey<T>, uint32_t*, \
                                       int64_t);                                          \
  template bool sort_side_by_side(const T*, int64_t, int64_t, SortKey<T>, T*);
MX_EACH_SORTED_TYPE(MX_INSTANTIATE)
#undef MX_INSTANTIATE

}  // namespace mxnet
