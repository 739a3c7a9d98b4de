// SPDX-License-Identifier: Apache-2.0
// Compiles the vectorised sort for each instruction set.
#include "op/vector_sort.h"

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/simd.h"
#include "base/simd_intrinsics.h"
#include "op/parallel.h"

// Vectors are passed between functions that are always inlined: no call, no ABI to warn of.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace mxnet {
namespace {

// For each set of lanes the permutation of 32-bit lanes, a byte each, that moves them to the front.
template <int kLanes>
struct FrontTable {
  uint64_t row[std::size_t{1} << kLanes] = {};
  constexpr FrontTable() {
    constexpr int kWords = 8 / kLanes;  // 32-bit lanes of one key
    for (std::size_t bits = 0; bits < std::size_t{1} << kLanes; ++bits) {
      int at = 0;
      for (int lane = 0; lane < kLanes; ++lane) {
        if ((bits >> lane & 1) == 0) continue;
        for (int word = 0; word < kWords; ++word)
          row[bits] |= static_cast<uint64_t>(lane * kWords + word) << (8 * at++);
      }
    }
  }
};
constexpr FrontTable<8> kFrontOfEight;
constexpr FrontTable<4> kFrontOfFour;

#define MX_SIMD_FILE "op/vector_sort.inc"
#include "base/simd_targets.h"

}  // namespace

namespace {

// Parts that are not worth a thread's while.
constexpr int64_t kLeastPart = int64_t{1} << 15;
// Elementary operations a key, for the decision about threads.
constexpr double kSortCost = 20.0;

// Sorts out[0, n), which is what is in `spare` if `elsewhere`, by tasks of the parallel region that
// it is called in. Clears `sorted` where a part could not be.
template <class K>
void sort_parts(K* out, K* spare, int64_t n, bool elsewhere, int levels,
                std::atomic<bool>* sorted) {
  if (levels == 0 || n < 2 * kLeastPart) {
    // Relaxed: read after the region has ended.
    if (!MX_SIMD_CALL(vector_sort<K>)(out, spare, n, elsewhere))
      sorted->store(false, std::memory_order_relaxed);
    return;
  }
  const int64_t low = MX_SIMD_CALL(vector_split<K>)(out, spare, n, elsewhere);
#pragma omp task
  sort_parts(out, spare + (n - low), low, false, levels - 1, sorted);
  sort_parts(out + low, spare, n - low, true, levels - 1, sorted);
}

}  // namespace

template <class K>
bool sort_by_vectors(K* keys, K* spare, int64_t n) {
  const int threads = n < 2 * kLeastPart || simd_level() == 0 ? 1 : threads_for(n, kSortCost);
  if (threads == 1) return MX_SIMD_CALL(vector_sort<K>)(keys, spare, n, false);
  // Four parts a thread even out what pivots make uneven.
  const int levels = std::bit_width(static_cast<unsigned>(threads)) + 2;
  std::atomic<bool> sorted{true};
#pragma omp parallel num_threads(threads)
#pragma omp single
  sort_parts(keys, spare, n, false, levels, &sorted);
  return sorted.load(std::memory_order_relaxed);
}

template bool sort_by_vectors(uint32_t*, uint32_t*, int64_t);
template bool sort_by_vectors(uint64_t*, uint64_t*, int64_t);

}  // namespace mxnet
