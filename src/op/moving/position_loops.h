// SPDX-License-Identifier: Apache-2.0
// What take does most: positions brought into range and small rows picked, by the widest
// instructions of the CPU.
#pragma once
#include <cstdint>

namespace mxnet {

// The nearest positions in [0, extent), elsewhere or in the same place.
void clip_positions(const int64_t* from, int64_t* to, int64_t n, int64_t extent);
void clip_positions(const int32_t* from, int64_t* to, int64_t n, int64_t extent);

// Whether all positions are in [low, high).
bool all_within(const int64_t* positions, int64_t n, int64_t low, int64_t high);

// start + i for each i in [0, n) with truth[i], in order; how many. Room for n is written over.
int64_t positions_of_true(const bool* truth, int64_t start, int64_t n, int64_t* to);

// to[i] = to[i] * extent + positions[i]: of lines of `extent`, those in another.
void add_positions(const int64_t* positions, int64_t n, int64_t extent, int64_t* to);

// out[i] = in[positions[i]]
void gather_elements(const uint32_t* in, uint32_t* out, const int64_t* positions, int64_t n);
void gather_elements(const uint64_t* in, uint64_t* out, const int64_t* positions, int64_t n);

// The same for rows of `width` bytes, or null where these are not as many as some registers hold.
using RowsGatherer = void (*)(const char* in, char* out, const int64_t* positions, int64_t n,
                              int64_t width);
RowsGatherer rows_gatherer(int64_t width);

// The same from the nearest position in [0, extent), without a copy of the positions.
// T: uint32_t or uint64_t, Index: int32_t or int64_t.
template <class T, class Index>
void gather_clipped(const T* in, T* out, const Index* positions, int64_t n, int64_t extent);

}  // namespace mxnet
