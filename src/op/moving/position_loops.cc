// SPDX-License-Identifier: Apache-2.0
// Compiles the loops over positions for each instruction set.
#include "op/moving/position_loops.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "base/simd.h"
#include "base/simd_intrinsics.h"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/moving/position_loops.inc"
#include "base/simd_targets.h"

}  // namespace

void clip_positions(const int64_t* from, int64_t* to, int64_t n, int64_t extent) {
  MX_SIMD_CALL(clip<int64_t>)(from, to, n, extent);
}
void clip_positions(const int32_t* from, int64_t* to, int64_t n, int64_t extent) {
  MX_SIMD_CALL(clip<int32_t>)(from, to, n, extent);
}

bool all_within(const int64_t* positions, int64_t n, int64_t low, int64_t high) {
  return MX_SIMD_CALL(within)(positions, n, low, high);
}

int64_t positions_of_true(const bool* truth, int64_t start, int64_t n, int64_t* to) {
  return MX_SIMD_CALL(chosen<>)(truth, start, n, to);
}

void add_positions(const int64_t* positions, int64_t n, int64_t extent, int64_t* to) {
  MX_SIMD_CALL(join)(positions, n, extent, to);
}

void gather_elements(const uint32_t* in, uint32_t* out, const int64_t* positions, int64_t n) {
  MX_SIMD_CALL(gather<uint32_t>)(in, out, positions, n);
}

void gather_elements(const uint64_t* in, uint64_t* out, const int64_t* positions, int64_t n) {
  MX_SIMD_CALL(gather<uint64_t>)(in, out, positions, n);
}

RowsGatherer rows_gatherer(int64_t width) { return MX_SIMD_CALL(rows_gatherer)(width); }

template <class T, class Index>
void gather_clipped(const T* in, T* out, const Index* positions, int64_t n, int64_t extent) {
  const int64_t last = std::min<int64_t>(extent - 1, std::numeric_limits<Index>::max());
  MX_SIMD_AT(simd_level(), gather_clipped<T, Index>)
  (in, out, positions, n, static_cast<Index>(last));
}

#define MX_INSTANTIATE(T, Index) \
  template void gather_clipped(const T*, T*, const Index*, int64_t, int64_t);
MX_INSTANTIATE(uint32_t, int32_t)
MX_INSTANTIATE(uint32_t, int64_t)
MX_INSTANTIATE(uint64_t, int32_t)
MX_INSTANTIATE(uint64_t, int64_t)
#undef MX_INSTANTIATE

}  // namespace mxnet
