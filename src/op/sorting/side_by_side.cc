// SPDX-License-Identifier: Apache-2.0
// Rows are turned, so that vectors have the first elements of all, then the second ones. Positions
// come from counting, for any number of elements without a branch: of those that are ordered by
// exchanges each would take its position along.
#include "op/sorting/side_by_side.h"

#include <array>
#include <cstring>
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
template <class T, int64_t most = kSideBySide>
using Turned = std::array<T, static_cast<std::size_t>(kSideBySide* most)>;

// `count` rows of n bytes, less than a vector, from steps of one size to those of another, a vector
// of each: what is too much is written over by the next row, or is no row's.
void move_vectors(const char* from, int64_t from_step, char* to, int64_t to_step, int64_t n,
                  int64_t count) {
  for (int64_t r = 0; r < count; ++r, from += from_step, to += to_step) {
    const bool whole = n * (count - r) >= kSideBySide;  // up to the end of what lies together
    whole ? std::memcpy(to, from, kRows) : std::memcpy(to, from, static_cast<std::size_t>(n));
  }
}

void turn_tiles(const void* rows, int64_t n, int64_t count, int64_t bytes, void* turned) {
  tile_kernel(bytes)(static_cast<const char*>(rows), static_cast<char*>(turned),
                     {n, bytes, kSideBySide * bytes}, {count, n * bytes, bytes}, bytes, false);
}
void turn_tiles_back(const void* turned, int64_t n, int64_t count, int64_t bytes, void* rows) {
  tile_kernel(bytes)(static_cast<const char*>(turned), static_cast<char*>(rows),
                     {count, bytes, n * bytes}, {n, kSideBySide * bytes, bytes}, bytes, false);
}

// Tiles of bytes are whole vectors: narrower rows are turned as if they were as wide.
bool is_narrow(int64_t n, int64_t bytes) { return bytes == 1 && n < kSideBySide; }
using WideRows = std::array<char, kRows * kRows>;

void turn(const void* rows, int64_t n, int64_t count, int64_t bytes, void* turned) {
  if (!is_narrow(n, bytes)) return turn_tiles(rows, n, count, bytes, turned);
  WideRows wide{};
  move_vectors(static_cast<const char*>(rows), n, wide.data(), kSideBySide, n, count);
  turn_tiles(wide.data(), kSideBySide, kSideBySide, bytes, turned);
}
void turn_back(const void* turned, int64_t n, int64_t count, int64_t bytes, void* rows) {
  if (!is_narrow(n, bytes)) return turn_tiles_back(turned, n, count, bytes, rows);
  WideRows wide;
  turn_tiles_back(turned, kSideBySide, kSideBySide, bytes, wide.data());
  move_vectors(wide.data(), kSideBySide, static_cast<char*>(rows), n, n, count);
}

// Keys of rows that are not there are 0.
template <class T, int64_t most>
void turned_keys(const T* rows, int64_t n, int64_t count, SortKey<T> flip,
                 Turned<SortKey<T>, most>* keys) {
  Turned<T, most> turned;
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

}  // namespace

template <class T>
bool positions_side_by_side(const T* rows, int64_t n, int64_t count, SortKey<T> flip, uint32_t* at,
                            int64_t pitch) {
  if (!sorts_by_vectors()) return false;
  Turned<SortKey<T>> keys;
  turned_keys<T, kSideBySide>(rows, n, count, flip, &keys);
  SortKey<T> zero = to_key<T, false>(T{}, flip), below_zero = zero;
  if constexpr (kSortsAsReal<T>) below_zero = to_key<T, false>(-T{}, flip);
  rank_keys<SortKey<T>>(keys, n, count, below_zero, zero, at, pitch);
  return true;
}

template <class T>
bool sort_side_by_side(const T* rows, int64_t n, int64_t count, SortKey<T> flip, T* out) {
  if (!sorts_by_vectors()) return false;
  Turned<SortKey<T>, kMostSorted<T>> keys;
  Turned<T, kMostSorted<T>> turned;
  if (sizeof(T) == 1) turned.fill(T{});  // of which more is turned back than there is
  turned_keys<T, kMostSorted<T>>(rows, n, count, flip, &keys);
  MX_SIMD_WIDE_AT(simd_level(), sort<SortKey<T>>)(keys.data(), n);
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
