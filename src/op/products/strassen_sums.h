// SPDX-License-Identifier: Apache-2.0
// Sums of Strassen's method, whose products are seven of halves in both directions instead of
// eight, or, twice, 49 of halves of halves instead of 64. Quarters are in the order 11, 12, 21, 22;
// counts are multiples of a vector. All run on the calling thread.
#pragma once
#include <cstdint>

namespace mxnet::strassen_sums {

inline constexpr int kOnce = 7, kTwice = kOnce * kOnce;
// Rows of panels that are summed at once, so that what is between stays close; they divide a
// quarter of all.
inline constexpr int64_t kPiece = 8;

// From factor to factor a line more than the rows take: distances of whole pages would put what is
// written together into the same lines of the first-level cache.
inline int64_t factor_distance(int64_t rows, int64_t count) { return rows * count + 16; }

// The left factors for twice, `apart` numbers from each other: of one row of each quarter of the
// rows, of four times `quarter` numbers. `between` is room for 28 quarters.
void sum_left_twice(const float* const (&rows)[4], int64_t quarter, float* between, float* to,
                    int64_t apart);

// The right factors for twice, of four packed panels of `width` columns, one after the other, of
// `panel` numbers each: a quarter of a panel each, one after the other. They go past the caches
// (base/stream_copy.h): other cores still have what was there before, and taking the lines back
// from them one by one takes longer than memory does.
void sum_right_twice(const float* panels, int64_t panel, int64_t width, float* to);

// Seven products, each of `rows` rows of `count` numbers, become the quarters of the result, whose
// rows are `stride` apart, or are added to them.
void sum_products(const float* products, int64_t apart, int64_t rows, int64_t count,
                  float* const (&to)[4], int64_t stride, bool add);

}  // namespace mxnet::strassen_sums
