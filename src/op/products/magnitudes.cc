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

float quartile_of_some_products(int64_t m, int64_t n, int64_t k, const float* a, const float* w) {
  constexpr int64_t kRows = 16, kColumns = 8, kProducts = kRows * kColumns;
  // One of each stretch of rows and columns, somewhere: samples and units may have a period.
  const auto place = [](int64_t stretch, int64_t stretches, int64_t count) {
    const int64_t first = stretch * count / stretches,
                  size = std::max(int64_t{1}, (stretch + 1) * count / stretches - first);
    const uint32_t scattered = static_cast<uint32_t>(stretch + 1) * 0x9e3779b1U;
    return first + static_cast<int64_t>(scattered >> 8) % size;
  };
  std::array<float, kProducts> products;
  for (int64_t i = 0; i < kRows; ++i) {
    const float* row = a + place(i, kRows, m) * k;
    for (int64_t j = 0; j < kColumns; ++j) {
      const int64_t at = j * kRows + i;  // another column of its stretch for each row
      products[static_cast<std::size_t>(at)] =
          std::abs(MX_SIMD_CALL(dot)(row, w + place(at, kProducts, n) * k, k));
    }
  }
  const auto quartile = products.begin() + kProducts / 4;
  std::nth_element(products.begin(), quartile, products.end());
  return *quartile;
}

}  // namespace mxnet
