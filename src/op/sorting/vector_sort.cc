// SPDX-License-Identifier: Apache-2.0
// Compiles the vectorised sort for each instruction set.
#include "op/sorting/vector_sort.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/processor_facts.h"
#include "base/simd.h"
#include "base/simd_intrinsics.h"
#include "op/run/parallel.h"
#include "op/run/team.h"

// Vectors are passed between functions that are always inlined: no call, no ABI to warn of.
#pragma GCC diagnostic ignored "-Wpsabi"
#pragma GCC diagnostic ignored "-Wuninitialized"  // GCC 12's own intrinsics, not ours

namespace mxnet {
namespace {

// For each set of lanes the permutation of 64-bit (of eight) or 32-bit lanes, a byte each, that
// moves them to the front and the others behind them.
template <int kLanes>
struct PartedTable {
  uint64_t row[std::size_t{1} << kLanes] = {};
  constexpr PartedTable() {
    constexpr int kWords = 8 / kLanes;  // permuted lanes of one key
    for (std::size_t bits = 0; bits < std::size_t{1} << kLanes; ++bits) {
      int at = 0;
      for (std::size_t wanted : {1, 0}) {
        for (int lane = 0; lane < kLanes; ++lane) {
          if ((bits >> lane & 1) != wanted) continue;
          for (int word = 0; word < kWords; ++word)
            row[bits] |= static_cast<uint64_t>(lane * kWords + word) << (8 * at++);
        }
      }
    }
  }
};
constexpr PartedTable<8> kPartedEight;
constexpr PartedTable<4> kPartedFour;

#define MX_SIMD_FILE "op/sorting/vector_sort.inc"
#include "base/simd_targets.h"

}  // namespace

namespace {

// Parts that are not worth a thread's while.
constexpr int64_t kLeastPart = int64_t{1} << 15;
// Elementary operations a key, for the decision about threads.
constexpr double kSortCost = 20.0;

// Sorts by tasks of the parallel region that it is called in.
template <class T>
void sort_parts(SortKey<T>* keys, int64_t n, SortKey<T> flip, int depth, int levels) {
  if (levels == 0 || depth == 0 || n < 2 * kLeastPart)
    return MX_SIMD_CALL(vector_sort<T>)(keys, n, flip, depth);
  int64_t low = 0, high = 0;
  MX_SIMD_CALL(vector_split<T>)(keys, n, flip, &low, &high);
#pragma omp task
  sort_parts<T>(keys, low, flip, depth - 1, levels - 1);
  sort_parts<T>(keys + high, n - high, flip, depth - 1, levels - 1);
}

template <class T>
void sort_all(SortKey<T>* keys, int64_t n, SortKey<T> flip, int depth) {
  const int threads = n < 2 * kLeastPart ? 1 : threads_for(n, kSortCost);
  if (threads == 1) return MX_SIMD_CALL(vector_sort<T>)(keys, n, flip, depth);
  // Four parts a thread even out what pivots make uneven.
  const int levels = std::bit_width(static_cast<unsigned>(threads)) + 2;
#pragma omp parallel num_threads(team_of(threads))
#pragma omp single
  sort_parts<T>(keys, n, flip, depth, levels);
}

}  // namespace

bool sorts_by_vectors() { return simd_level() > 0; }

template <class T>
bool sort_by_vectors(SortKey<T>* keys, int64_t n, SortKey<T> flip, int depth) {
  if (!sorts_by_vectors()) return false;
  if constexpr (kSortsAsReal<T>) {
    sort_all<T>(keys, n, flip, depth);
  } else {
    // Whole numbers are their keys but for some bits, which are those of key 0.
    SortKey<T> changed = 0;
    key_to_bits<T>(changed, flip);
    sort_all<SortKey<T>>(keys, n, changed, depth);
  }
  return true;
}

#define MX_INSTANTIATE(T) template bool sort_by_vectors<T>(SortKey<T>*, int64_t, SortKey<T>, int);
MX_INSTANTIATE(float)
MX_INSTANTIATE(double)
MX_INSTANTIATE(int32_t)
MX_INSTANTIATE(int64_t)
MX_INSTANTIATE(uint32_t)
MX_INSTANTIATE(uint64_t)
#undef MX_INSTANTIATE

}  // namespace mxnet
