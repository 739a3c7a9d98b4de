// SPDX-License-Identifier: Apache-2.0
// Packs lines into digits, and walks over tiles of the result.
#include "op/products/digit_products.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include "base/simd.h"

namespace mxnet {
namespace {

constexpr int64_t kTile = kLinesOfTile;
using matrix_unit::kBytes;
using matrix_unit::kDepth;
using matrix_unit::kDigits;
using matrix_unit::kStep;
using matrix_unit::Sums;

#define MX_SIMD_FILE "op/products/digit_products.inc"
#include "base/simd_targets.h"

int64_t steps_of(int64_t k) { return (k + kDepth - 1) / kDepth; }

int64_t tile_bytes(int64_t k) {
  return steps_of(k) * kStep + kTile * static_cast<int64_t>(sizeof(float));
}

// The scales of a tile follow its digits.
float* scales_of(int8_t* tile, int64_t k) {
  return reinterpret_cast<float*>(tile + steps_of(k) * kStep);
}
const float* scales_of(const int8_t* tile, int64_t k) {
  return reinterpret_cast<const float*>(tile + steps_of(k) * kStep);
}

// Up to kTile lines; `right`: as matrices of a right factor. `known`: what is at least the largest
// number of each, or null.
void pack_tile(const Lines& lines, int64_t count, int64_t k, bool right, const float* known,
               int8_t* to) {
  alignas(64) float numbers[kTile * kDepth];
  alignas(64) int8_t digits[kStep];
  float largest[kTile] = {};
  if (known != nullptr) {
    std::copy_n(known, count, largest);
  } else if (lines.step == 1) {
    for (int64_t l = 0; l < count; ++l)
      largest[l] = MX_SIMD_CALL(largest_of)(lines.data + l * lines.line, k);
  } else {
    MX_SIMD_CALL(largest_beside)(lines.data, count, lines.step, k, largest);
  }
  for (int64_t i = 0; i < k; i += kDepth, to += kStep) {
    const int64_t depth = std::min(kDepth, k - i);
    if (lines.step != 1)
      MX_SIMD_CALL(turn)(lines.data + i * lines.step, count, lines.step, depth, numbers);
    int8_t* tile = right ? digits : to;
    for (int64_t l = 0; l < kTile; ++l) {
      const float* from = lines.step == 1 ? lines.data + l * lines.line + i : numbers + l * kDepth;
      MX_SIMD_CALL(split)
      (from, l < count ? depth : 0, largest[l], tile + l * kDepth, kBytes);
    }
    if (!right) continue;
    for (int d = 0; d < kDigits; ++d)
      MX_SIMD_CALL(interleave)(digits + d * kBytes, to + d * kBytes);
  }
  for (int64_t l = 0; l < kTile; ++l)
    reinterpret_cast<float*>(to)[l] = MX_SIMD_CALL(scale_of)(largest[l]);
}

void pack(const Lines& lines, int64_t count, int64_t k, int64_t first, int64_t last, bool right,
          const float* known, int8_t* packed) {
  for (int64_t l = first; l < last; l += kTile) {
    pack_tile({lines.data + l * lines.line, lines.line, lines.step}, std::min(kTile, count - l), k,
              right, known == nullptr ? nullptr : known + l, packed + l / kTile * tile_bytes(k));
  }
}

bool is_zero(const Lines& lines, int64_t line, int64_t k) {
  const float* from = lines.data + line * lines.line;
  for (int64_t i = 0; i < k; ++i) {
    if (from[i * lines.step] != 0) return false;
  }
  return true;
}

// The largest numbers of lines [first, last), rounded up; false where a line does not suit.
bool look_at(const Lines& lines, int64_t k, int64_t first, int64_t last, float* largest) {
  // A number sixteen times as large as the root of a line's mean square. Where both lines have one,
  // errors of 2^-25 of a product of the largest numbers are 8e-6 of a sum's usual size, and less
  // than 1e-6 where numbers are normally distributed.
  constexpr float kMostSquare = 256;
  std::vector<float> squares(static_cast<std::size_t>(last - first)), sums(squares);
  const float* from = lines.data + first * lines.line;
  if (lines.step == 1) {
    for (std::size_t i = 0; i < squares.size(); ++i, from += lines.line)
      MX_SIMD_CALL(squares_of)(from, k, &squares[i], &sums[i]);
  } else {
    MX_SIMD_CALL(squares_beside)(from, last - first, lines.step, k, squares.data(), sums.data());
  }
  for (std::size_t i = 0; i < squares.size(); ++i) {
    // Squares that overflow, and NaN, make sums that are not finite. Of numbers whose squares
    // vanish nothing is known.
    constexpr float kLeastSquare = 0x1p-100F;
    const bool unknown =
        squares[i] < kLeastSquare && !is_zero(lines, first + static_cast<int64_t>(i), k);
    if (unknown || !std::isfinite(sums[i]) ||
        squares[i] * static_cast<float>(k) > kMostSquare * sums[i])
      return false;
    largest[first + static_cast<int64_t>(i)] = std::sqrt(squares[i]) * (1 + 0x1p-22F);
  }
  return true;
}

}  // namespace

int64_t DigitProducts::packed_bytes(int64_t lines, int64_t k) {
  return (lines + kTile - 1) / kTile * tile_bytes(k);
}

void DigitProducts::pack_left(const Lines& lines, int64_t count, int64_t k, int64_t first,
                              int64_t last, int8_t* packed) {
  pack(lines, count, k, first, last, false, nullptr, packed);
}
void DigitProducts::pack_right(const Lines& lines, int64_t count, int64_t k, int64_t first,
                               int64_t last, int8_t* packed) {
  pack(lines, count, k, first, last, true, nullptr, packed);
}

const int8_t* DigitProducts::pack_suitable(const Lines& lines, int64_t count, int64_t k, bool right,
                                           const KernelContext& context) {
  constexpr int64_t kTogether = 16 * kTile;  // whole pages of a row are read one after the other
  auto* largest = context.workspace_of<float>(count);
  std::atomic<bool> suit = true;
  const auto cost = static_cast<double>(k);
  parallel_for(
      count, cost / 8,
      [&](int64_t first, int64_t last) {
        // Relaxed: it is read after the threads have met.
        if (!look_at(lines, k, first, last, largest)) suit.store(false, std::memory_order_relaxed);
      },
      kTogether);
  if (!suit.load(std::memory_order_relaxed)) return nullptr;
  auto* packed = context.workspace_of<int8_t>(packed_bytes(count, k));
  parallel_for(
      count, cost,
      [&](int64_t first, int64_t last) {
        pack(lines, count, k, first, last, right, largest, packed);
      },
      kTile);
  return packed;
}

void DigitProducts::start_left(int64_t count, int64_t k, float largest, int8_t* packed) {
  for (int64_t l = 0; l < count; l += kTile, packed += tile_bytes(k)) {
    std::memset(packed, 0, static_cast<std::size_t>(steps_of(k) * kStep));
    std::fill_n(scales_of(packed, k), kTile, MX_SIMD_CALL(scale_of)(largest));
  }
}

void DigitProducts::pack_part(const float* numbers, int64_t line, int64_t k, int64_t first,
                              int64_t last, float largest, int8_t* packed) {
  int8_t* tile = packed + line / kTile * tile_bytes(k) + line % kTile * kDepth;
  for (int64_t i = first; i < last;) {
    const int64_t inside = i % kDepth, count = std::min(kDepth - inside, last - i);
    int8_t* to = tile + i / kDepth * kStep + inside;
    if (count == kDepth) {
      MX_SIMD_CALL(split)(numbers + i, count, largest, to, kBytes);
    } else {  // neighbours in the matrix belong to other threads
      alignas(64) int8_t digits[kDigits * kDepth];
      MX_SIMD_CALL(split)(numbers + i, count, largest, digits, kDepth);
      for (int d = 0; d < kDigits; ++d)
        std::memcpy(to + d * kBytes, digits + d * kDepth, static_cast<std::size_t>(count));
    }
    i += count;
  }
}

void DigitProducts::multiply(MultipliedBy by, int64_t m, int64_t n, int64_t k, const int8_t* left,
                             const int8_t* right, float* c, int64_t ldc, bool add, int64_t first,
                             int64_t last) {
  // What two tiles of rows and one of columns read lies in the first-level cache, nearly, and in
  // turned order at every second tile more of it does; tiles of some columns in the second-level
  // one, until all rows have met them.
  constexpr int64_t kMostDepth = 8, kMostColumns = 8 * kTile;
  static_assert(kMostDepth <= matrix_unit::kMostSteps);
  const int64_t tile = tile_bytes(k), steps = steps_of(k);
  std::optional<matrix_unit::Session> session;
  if (by == MultipliedBy::kUnit) session.emplace();
  alignas(64) Sums sums[2];
  for (int64_t column = first; column < last; column += kMostColumns) {
    const int64_t columns_end = std::min(column + kMostColumns, last);
    for (int64_t step = 0; step < steps || step == 0; step += kMostDepth) {
      const int64_t depth = std::min(kMostDepth, steps - step);
      const bool adds = add || step > 0;
      for (int64_t r = 0; r < m; r += 2 * kTile) {
        const int8_t* upper = left + r / kTile * tile;
        const int8_t* lower = r + kTile < m ? upper + tile : nullptr;
        const int8_t* const rows[2] = {upper + step * kStep,
                                       lower == nullptr ? nullptr : lower + step * kStep};
        bool back = false;
        for (int64_t j = column; j < columns_end; j += kTile, back = !back) {
          const int8_t* columns = right + j / kTile * tile;
          if (by == MultipliedBy::kUnit)
            matrix_unit::multiply_digits(depth, back, rows, columns + step * kStep, sums);
          else
            matrix_unit::multiply_digits_by_loops(depth, rows, columns + step * kStep, sums);
          const int64_t width = std::min(kTile, n - j);
          MX_SIMD_CALL(finish)
          (sums[0], scales_of(upper, k), scales_of(columns, k), std::min(kTile, m - r), width,
           c + r * ldc + j, ldc, adds);
          if (lower == nullptr) continue;
          MX_SIMD_CALL(finish)
          (sums[1], scales_of(lower, k), scales_of(columns, k), std::min(kTile, m - r - kTile),
           width, c + (r + kTile) * ldc + j, ldc, adds);
        }
      }
    }
  }
}

}  // namespace mxnet
