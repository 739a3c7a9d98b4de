// SPDX-License-Identifier: Apache-2.0
// Compiles the vectorised distributions for each instruction set.
#include "op/random/bulk.h"

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <limits>
#include <type_traits>

#include "base/half.h"
#include "base/simd.h"
#include "base/simd_intrinsics.h"
#include "op/generators/random_numbers.h"
#include "op/math/erf_pieces.h"
#include "op/math/vector_math.h"

// Vectors are passed between functions that are always inlined: no call, no ABI to warn of.
#pragma GCC diagnostic ignored "-Wpsabi"
#pragma GCC diagnostic ignored "-Wuninitialized"  // GCC 12's own intrinsics, not ours

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/random/bulk.inc"
#include "base/simd_targets.h"

}  // namespace

void fill_normal(Mt19937& stream, float* out, int64_t n, float loc, float scale) {
  MX_SIMD_CALL(normals<>)(stream, out, n, loc, scale);
}

void fill_standard_normal(Mt19937& stream, float* out, int64_t n) {
  MX_SIMD_CALL(normals_of_library)(stream, out, n);
}

void fill_normal_pairs(Mt19937& stream, float* out, int64_t n) {
  MX_SIMD_CALL(normal_pairs<>)(stream, out, n);
}

void fill_exponential(Mt19937& stream, float* out, int64_t n, float rate) {
  MX_SIMD_CALL(exponentials<>)(stream, out, n, rate);
}

bool fill_gamma(Mt19937& stream, float* out, int64_t n, float alpha, float beta) {
  return MX_SIMD_CALL(gammas<>)(stream, out, n, alpha, beta);
}

void logs_of_doubles(const double* x, double* y, int64_t n) {
  MX_SIMD_CALL(logs_of_doubles<>)(x, y, n);
}

void exponentials_of_doubles(const uint32_t* words, int64_t n, double rate, double* numbers) {
  MX_SIMD_CALL(exponentials_of_doubles)(words, n, rate, numbers);
}

int64_t normals_of_doubles(const uint32_t* words, int64_t pairs, double* numbers) {
  return MX_SIMD_CALL(normals_of_doubles)(words, pairs, numbers);
}

bool half_turn_tangents(const uint32_t* words, int64_t n, float* tangents) {
  return MX_SIMD_CALL(tangents_of_half_turns<>)(words, n, tangents);
}

int64_t find_points(const uint32_t* words, int64_t pairs, int32_t* points) {
  return MX_SIMD_CALL(find_points)(words, pairs, points);
}

}  // namespace mxnet
