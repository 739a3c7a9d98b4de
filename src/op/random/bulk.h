// SPDX-License-Identifier: Apache-2.0
// Runs of float numbers of distributions that need logarithms, by vectors. The numbers are those of
// the same words of the stream one by one, whatever the CPU, but for the last place of some: the
// logarithm is computed in double and rounded.
#pragma once
#include <cstdint>

#include "op/generators/mt19937.h"

namespace mxnet {

void fill_normal(Mt19937& stream, float* out, int64_t n, float loc, float scale);
// Standard ones, to the last place: with the C library's logarithm of float.
void fill_standard_normal(Mt19937& stream, float* out, int64_t n);
// Standard normal numbers, both of each point; where n is odd, the last point's second one behind.
void fill_normal_pairs(Mt19937& stream, float* out, int64_t n);
void fill_exponential(Mt19937& stream, float* out, int64_t n, float rate);
// Whether alpha >= 1; of others nothing is drawn.
bool fill_gamma(Mt19937& stream, float* out, int64_t n, float alpha, float beta);

// y = log(x) of normal numbers above 0 and up to 1, the C library's bits. REQUIRES: n <= kMostLogs,
// y is not x.
inline constexpr int64_t kMostLogs = 512;
void logs_of_doubles(const double* x, double* y, int64_t n);

// Exponential numbers of double, of two words each. REQUIRES: n <= kMostLogs.
void exponentials_of_doubles(const uint32_t* words, int64_t n, double rate, double* numbers);

// half_turn_tangent() of each word, the same bits. Whether it is faster so on this CPU; otherwise
// none is.
bool half_turn_tangents(const uint32_t* words, int64_t n, float* tangents);

// Out of four words each: which of the pairs of doubles in [-1, 1) are points in the unit circle
// but not its centre, by their first words; returns how many. REQUIRES: pairs <= kMostPairs, for
// which `points` has room.
inline constexpr int64_t kMostPairs = 512;
int64_t find_points(const uint32_t* words, int64_t pairs, int32_t* points);
// The same pairs' standard normal numbers, for which `numbers` has room.
int64_t normals_of_doubles(const uint32_t* words, int64_t pairs, double* numbers);

}  // namespace mxnet
