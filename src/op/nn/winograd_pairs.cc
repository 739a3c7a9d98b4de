// SPDX-License-Identifier: Apache-2.0
// Blocks of products of bfloat16, as those in float of winograd_products.inc are.
#include "op/nn/winograd_pairs.h"

#include <cstring>
#include <utility>

#include "base/bfloat16_pairs.h"
#include "base/simd.h"
#include "op/nn/winograd_blocks.h"

namespace mxnet {
namespace {

constexpr int kLanes = PairSums::kCount, kVectors = kWinogradPairFilters / kLanes;
constexpr int kRows = 14;      // with two vectors of sums each, 28 of 32 registers
constexpr int kLeastRows = 7;  // of more tiles than 14, evenly divided
constexpr int64_t kGroup = 8;  // pairs of a group of channels

// As product() of winograd_products.inc; `ahead` is read next, `ahead_step` floats of it each step.
template <int rows>
MX_BFLOAT16_PAIRS void product(int64_t pairs, const float* input, int64_t input_line,
                               const float* weights, const float* ahead, int64_t ahead_step,
                               float* output, int64_t output_line, bool add) {
  PairSums sum[rows][kVectors];
#pragma GCC unroll 14
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v)
      sum[r][v] = add ? PairSums::load(output + v * output_line + r * kLanes) : PairSums::zero();
  }
  for (; pairs > 0; pairs -= kGroup, input += input_line) {
    const int64_t steps = pairs < kGroup ? pairs : kGroup;
#pragma GCC unroll 1
    for (int64_t i = 0; i < steps; ++i, weights += kVectors * kLanes, ahead += ahead_step) {
      // The lines of the next group of channels, which need not exist.
      __builtin_prefetch(input + input_line + i * kLanes);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) __builtin_prefetch(ahead + v * kLanes);
      PairSums right[kVectors];
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) right[v] = PairSums::load(weights + v * kLanes);
#pragma GCC unroll 14
      for (int r = 0; r < rows; ++r) {
        Bfloat16Pair left;
        std::memcpy(&left, input + r * kGroup + i, sizeof(left));
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) sum[r][v].add(left, right[v]);
      }
    }
  }
#pragma GCC unroll 14
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) sum[r][v].store(output + v * output_line + r * kLanes);
  }
}

using Product = void (*)(int64_t, const float*, int64_t, const float*, const float*, int64_t,
                         float*, int64_t, bool);
struct ProductTable {
  Product at[kRows - kLeastRows + 1];  // by rows - kLeastRows
};
template <int... rows>
constexpr ProductTable all_products(std::integer_sequence<int, rows...>) {
  return {{product<rows + kLeastRows>...}};
}

}  // namespace

bool has_winograd_pairs() {
  static const bool has = simd_level() == 2 && simd_features().avx512bf16;
  return has;
}

void multiply_winograd_pairs(int64_t tiles, int64_t pairs, const float* input, int64_t input_line,
                             const float* weights, float* output, int64_t output_line) {
  static constexpr ProductTable kProducts =
      all_products(std::make_integer_sequence<int, kRows - kLeastRows + 1>());
  constexpr int64_t kWidth = kWinogradPairFilters;
  const bool few = tiles < kLeastRows;  // one by one: only what many threads share has so few
  for_each_winograd_block(
      tiles, few ? 1 : kRows, pairs, 256, kGroup, [&](const WinogradBlock& block) {
        const float* right = weights + block.start * kWidth;
        const int64_t step = winograd_units(kWidth, block.parts);
        const Product multiply = few ? product<1> : kProducts.at[block.rows - kLeastRows];
        multiply(block.depth, input + block.start / kGroup * input_line + block.from * kGroup,
                 input_line, right, right + block.depth * (kWidth + block.part * step), step,
                 output + block.from * kLanes, output_line, block.start > 0);
      });
}

}  // namespace mxnet
