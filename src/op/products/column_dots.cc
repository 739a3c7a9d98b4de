// SPDX-License-Identifier: Apache-2.0
// Compiles the loops for each instruction set; cuts columns into tiles, and where these are few,
// rows into chunks, as reductions do (op/reducing/reduce_units.h).
#include "op/products/column_dots.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "base/simd.h"
#include "op/run/moved_bytes.h"
#include "op/run/parallel.h"

// Vectors are passed between functions that are always inlined: no call, no ABI to warn of.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/products/column_dots.inc"
#include "base/simd_wide_targets.h"

template <class T>
using Loop = void (*)(const T* a, const T* b, int64_t rows, int64_t stride, T* sums, int64_t width);

// Columns of a tile, and a vector more; rows whose sums are made one after the other, so that their
// error stays small.
constexpr int64_t kTile = 1024, kMostColumns = kTile + 16, kRowBlock = 256;
// From so many units on threads have enough to do; elements of a chunk of one of fewer.
constexpr int64_t kEnoughUnits = 16, kChunk = int64_t{1} << 16;

template <class T>
void add(const T* more, T* sums, int64_t n) {
  for (int64_t j = 0; j < n; ++j) sums[j] += more[j];
}

// Sums of rows [from, to) of `width` columns, whose first row begins at `at`.
template <class T>
void sum_rows(const ColumnDots<T>& dots, Loop<T> loop, int64_t at, int64_t width, int64_t from,
              int64_t to, T* sums) {
  std::array<T, kMostColumns> block;
  for (int64_t row = from; row < to; row += kRowBlock) {
    const int64_t first = at + row * dots.width;
    T* const made = row == from ? sums : block.data();
    loop(dots.a + first, dots.b + first, std::min(kRowBlock, to - row), dots.width, made, width);
    if (row != from) add(made, sums, width);
  }
}

}  // namespace

template <class T>
bool multiply(const ColumnDots<T>& dots) {
  const Loop<T> loop = MX_SIMD_WIDE_AT(simd_level(), column_dots<T>);
  const int64_t lanes = (simd_level() == 2 ? 64 : 32) / int64_t{sizeof(T)};
  const int64_t rows = dots.rows, width = dots.width;
  if (loop == nullptr || rows == 0 || width < lanes) return false;
  // Tiles of one size, so that none is narrower than a vector; they begin with one of a row.
  const int64_t tiles = (width + kTile - 1) / kTile, units = dots.planes * tiles;
  const auto begin = [&](int64_t tile) {
    return tile == tiles ? width : tile * width / tiles / lanes * lanes;
  };
  const int64_t tile = width / tiles, chunk = std::max(kRowBlock, kChunk / tile);
  const int64_t chunks =
      units < kEnoughUnits && rows * tile > 2 * kChunk ? (rows + chunk - 1) / chunk : 1;
  std::vector<T> parts(chunks == 1 ? 0 : static_cast<std::size_t>(units * chunks * kMostColumns));
  const auto sums_of = [&](int64_t unit) {
    return dots.c + unit / tiles * width + begin(unit % tiles);
  };
  const double numbers = 2.0 * static_cast<double>(rows * tile) / static_cast<double>(chunks);
  parallel_for(
      units * chunks, cost_of_moving(numbers * sizeof(T)),
      [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          const int64_t unit = i / chunks, plane = unit / tiles, from = i % chunks * chunk;
          const int64_t at = begin(unit % tiles), end = begin(unit % tiles + 1);
          sum_rows(dots, loop, plane * rows * width + at, end - at, from,
                   chunks == 1 ? rows : std::min(rows, from + chunk),
                   chunks == 1 ? sums_of(unit) : parts.data() + i * kMostColumns);
        }
      },
      1);
  if (chunks == 1) return true;
  for (int64_t unit = 0; unit < units; ++unit) {
    T* const sums = parts.data() + unit * chunks * kMostColumns;
    const int64_t columns = begin(unit % tiles + 1) - begin(unit % tiles);
    for (int64_t step = 1; step < chunks; step *= 2) {
      for (int64_t i = 0; i + step < chunks; i += 2 * step)
        add(sums + (i + step) * kMostColumns, sums + i * kMostColumns, columns);
    }
    std::copy_n(sums, columns, sums_of(unit));
  }
  return true;
}

template bool multiply(const ColumnDots<float>& dots);
template bool multiply(const ColumnDots<double>& dots);

}  // namespace mxnet
