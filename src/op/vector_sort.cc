// SPDX-License-Identifier: Apache-2.0
// Compiles the vectorised sort for each instruction set.
#include "op/vector_sort.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/simd.h"
#include "base/simd_intrinsics.h"

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

template <class K>
bool sort_by_vectors(K* keys, K* spare, int64_t n) {
  return MX_SIMD_CALL(vector_sort<K>)(keys, spare, n);
}

template bool sort_by_vectors(uint32_t*, uint32_t*, int64_t);
template bool sort_by_vectors(uint64_t*, uint64_t*, int64_t);

}  // namespace mxnet
