// SPDX-License-Identifier: Apache-2.0
// Packs lines of bfloat16 into matrices of the unit, and walks over blocks of the result.
#include "op/products/bfloat16_tiles.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "op/loops/convert.h"

namespace mxnet {
namespace {

using matrix_unit::kBytes;
using matrix_unit::kDepth;

constexpr int64_t kTile = kLinesOfTile, kNumbers = kDepth / 2;  // of a line in a matrix

int64_t steps_of(int64_t k) { return (k + kNumbers - 1) / kNumbers; }

// A matrix of lines of kDepth bytes becomes one of four bytes of each line beside each other.
void interleave(const int8_t* from, int8_t* to) {
  constexpr int64_t kTogether = 4;
  for (int64_t i = 0; i < kDepth / kTogether; ++i) {
    for (int64_t l = 0; l < kTile; ++l)
      std::memcpy(to + i * kDepth + kTogether * l, from + l * kDepth + kTogether * i, kTogether);
  }
}

void pack(const Lines& lines, int64_t count, int64_t k, int64_t first, int64_t last, bool right,
          int8_t* packed) {
  alignas(64) bfloat16 matrix[kTile * kNumbers];
  alignas(64) float numbers[kTile * kNumbers];
  int8_t* to = packed + first / kTile * steps_of(k) * kBytes;
  for (int64_t tile = first; tile < last; tile += kTile) {
    const int64_t inside = std::min(kTile, count - tile);
    const float* from = lines.data + tile * lines.line;
    for (int64_t i = 0; i < k; i += kNumbers, to += kBytes) {
      const int64_t depth = std::min(kNumbers, k - i);
      if (inside < kTile || depth < kNumbers) std::fill_n(numbers, kTile * kNumbers, 0.0F);
      if (lines.step == 1) {
        for (int64_t l = 0; l < inside; ++l)
          std::copy_n(from + l * lines.line + i, depth, numbers + l * kNumbers);
      } else {
        for (int64_t j = 0; j < depth; ++j) {
          for (int64_t l = 0; l < inside; ++l)
            numbers[l * kNumbers + j] = from[(i + j) * lines.step + l * lines.line];
        }
      }
      convert_array(numbers, matrix, kTile * kNumbers);
      if (right)
        interleave(reinterpret_cast<const int8_t*>(matrix), to);
      else
        std::memcpy(to, matrix, kBytes);
    }
  }
}

// As multiply() of full matrices; where c lacks rows or columns its products come over a buffer.
void multiply_block(MultipliedBy by, int64_t steps, const int8_t* const (&left)[2],
                    const int8_t* const (&right)[2], int64_t rows, int64_t columns, float* c,
                    int64_t ldc, bool add) {
  const auto multiply = by == MultipliedBy::kUnit ? matrix_unit::multiply_bfloat16
                                                  : matrix_unit::multiply_bfloat16_by_loops;
  if (rows % kTile == 0 && columns % kTile == 0) return multiply(steps, left, right, c, ldc, add);
  alignas(64) float block[4 * kTile * kTile];
  multiply(steps, left, right, block, 2 * kTile, false);
  for (int64_t r = 0; r < rows; ++r) {
    const float* from = block + r * 2 * kTile;
    float* to = c + r * ldc;
    for (int64_t j = 0; j < columns; ++j) to[j] = add ? to[j] + from[j] : from[j];
  }
}

}  // namespace

int64_t Bfloat16Tiles::packed_bytes(int64_t lines, int64_t k) {
  return (lines + kTile - 1) / kTile * steps_of(k) * kBytes;
}

void Bfloat16Tiles::pack_left(const Lines& lines, int64_t count, int64_t k, int64_t first,
                              int64_t last, int8_t* packed) {
  pack(lines, count, k, first, last, false, packed);
}
void Bfloat16Tiles::pack_right(const Lines& lines, int64_t count, int64_t k, int64_t first,
                               int64_t last, int8_t* packed) {
  pack(lines, count, k, first, last, true, packed);
}

void Bfloat16Tiles::pack_right(const bfloat16* lines, int64_t count, int64_t k, int64_t first,
                               int64_t last, int8_t* packed) {
  alignas(64) int8_t matrix[kBytes];
  int8_t* to = packed + first / kTile * steps_of(k) * kBytes;
  for (int64_t tile = first; tile < last; tile += kTile) {
    const int64_t inside = std::min(kTile, count - tile);
    for (int64_t i = 0; i < k; i += kNumbers, to += kBytes) {
      const int64_t depth = std::min(kNumbers, k - i);
      if (inside < kTile || depth < kNumbers) std::fill_n(matrix, kBytes, int8_t{0});
      for (int64_t l = 0; l < inside; ++l)
        std::memcpy(matrix + l * kDepth, lines + (tile + l) * k + i,
                    static_cast<std::size_t>(depth) * sizeof(bfloat16));
      interleave(matrix, to);
    }
  }
}

void Bfloat16Tiles::clear(int64_t lines, int64_t k, int8_t* packed) {
  std::fill_n(packed, packed_bytes(lines, k), int8_t{0});
}

void Bfloat16Tiles::pack_part(const float* numbers, int64_t line, int64_t k, int64_t first,
                              int64_t last, int8_t* packed) {
  int8_t* tile = packed + line / kTile * steps_of(k) * kBytes + line % kTile * kDepth;
  for (int64_t i = first; i < last;) {
    const int64_t inside = i % kNumbers, count = std::min(kNumbers - inside, last - i);
    auto* to = reinterpret_cast<bfloat16*>(tile + i / kNumbers * kBytes) + inside;
    convert_array(numbers + i, to, count);
    i += count;
  }
}

void Bfloat16Tiles::multiply(MultipliedBy by, int64_t m, int64_t n, int64_t k, const int8_t* left,
                             const int8_t* right, float* c, int64_t ldc, bool add, int64_t first,
                             int64_t last) {
  // Of such a depth two tiles of rows and two of columns lie in the first-level cache.
  constexpr int64_t kMostDepth = 512 / kNumbers, kMostColumns = 16 * kTile;
  const int64_t steps = steps_of(k), tile = steps * kBytes;
  std::optional<matrix_unit::Session> session;
  if (by == MultipliedBy::kUnit) session.emplace();
  for (int64_t column = first; column < last; column += kMostColumns) {
    const int64_t end = std::min(column + kMostColumns, last);
    for (int64_t step = 0; step < steps || step == 0; step += kMostDepth) {
      const int64_t depth = std::min(kMostDepth, steps - step), at = step * kBytes;
      for (int64_t r = 0; r < m; r += 2 * kTile) {
        const int8_t* upper = left + r / kTile * tile + at;
        const int8_t* const rows[2] = {upper, r + kTile < m ? upper + tile : nullptr};
        for (int64_t j = column; j < end; j += 2 * kTile) {
          const int8_t* columns = right + j / kTile * tile + at;
          multiply_block(by, depth, rows, {columns, j + kTile < end ? columns + tile : nullptr},
                         std::min(2 * kTile, m - r), std::min({2 * kTile, n - j, end - j}),
                         c + r * ldc + j, ldc, add || step > 0);
        }
      }
    }
  }
}

}  // namespace mxnet
