// SPDX-License-Identifier: Apache-2.0
// Looks at all numbers for the bits of the largest, and at some products.
#include "op/products/magnitudes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "base/simd.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/products/magnitudes.inc"
#include "base/simd_targets.h"

float largest_in_turn(const float* numbers, int64_t count) {
  return std::bit_cast<float>(MX_SIMD_CALL(largest_bits)(numbers, count));
}

}  // namespace

float largest_of(const float* numbers, int64_t count) {
  constexpr int64_t kLeast = 1 << 14, kMostBlocks = 64;
  const int64_t size = std::max(kLeast, (count + kMostBlocks - 1) / kMostBlocks);
  const int64_t blocks = (count + size - 1) / size;
  std::array<float, kMostBlocks> each{};
  parallel_for(
      blocks, static_cast<double>(size),
      [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i)
          each[static_cast<std::size_t>(i)] =
              largest_in_turn(numbers + i * size, std::min(size, count - i * size));
      },
      1);
  return largest_in_turn(each.data(), blocks);
}

RowMagnitudes magnitudes_of_rows(const float* numbers, int64_t rows, int64_t length) {
  constexpr int64_t kMostBlocks = 64;
  const int64_t height = std::max(int64_t{1}, (rows + kMostBlocks - 1) / kMostBlocks);
  const int64_t blocks = (rows + height - 1) / height;
  std::array<float, kMostBlocks> largest{}, least{};
  parallel_for(
      blocks, static_cast<double>(height * length),
      [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          std::array<float, 2> ends{0, std::numeric_limits<float>::infinity()};
          for (int64_t row = i * height; row < std::min(rows, (i + 1) * height); ++row) {
            const std::array<float, 2> two{ends[0],
                                           largest_in_turn(numbers + row * length, length)};
            ends = {largest_in_turn(two.data(), 2), std::min(ends[1], two[1])};
          }
          largest[static_cast<std::size_t>(i)] = ends[0];
          least[static_cast<std::size_t>(i)] = ends[1];
        }
      },
      1);
  return {largest_in_turn(largest.data(), blocks),
          *std::min_element(least.data(), least.data() + blocks)};
}

float mean_of_some_products(int64_t m, int64_t n, int64_t k, const float* a, const float* w) {
  constexpr int64_t kRows = 16, kColumns = 8;
  float sum = 0;
  for (int64_t i = 0; i < kRows; ++i) {
    for (int64_t j = 0; j < kColumns; ++j) {
      // Another column of its stretch for each row.
      const int64_t row = i * m / kRows, column = (j * kRows + i) * n / (kRows * kColumns);
      sum += std::abs(MX_SIMD_CALL(dot)(a + row * k, w + column * k, k));
    }
  }
  return sum / (kRows * kColumns);
}

}  // namespace mxnet
