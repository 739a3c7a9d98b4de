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

int64_t bytes_of_vector() { return simd_level() == 2 ? 64 : 32; }

template <class T>
void add(const void* more, void* sums, int64_t n) {
  for (int64_t j = 0; j < n; ++j) static_cast<T*>(sums)[j] += static_cast<const T*>(more)[j];
}

// Sums of rows [from, to) of `width` columns, the first of which is element `at`.
template <class T>
void sum_rows(const void* p, int64_t at, int64_t width, int64_t from, int64_t to, void* sums) {
  const auto& dots = *static_cast<const ColumnDots<T>*>(p);
  const Loop<T> loop = MX_SIMD_WIDE_AT(simd_level(), column_dots<T>);
  std::array<T, kMostColumns> block;
  for (int64_t row = from; row < to; row += kRowBlock) {
    const int64_t first = at + row * dots.of.width;
    T* const made = row == from ? static_cast<T*>(sums) : block.data();
    loop(dots.a + first, dots.b + first, std::min(kRowBlock, to - row), dots.of.width, made, width);
    if (row != from) add<T>(made, sums, width);
  }
}

// ColumnDots without their type, of which only loops know: the library holds this once.
struct AnyDots {
  Columns of;
  const void* dots;
  char* c;
  int64_t bytes;  // of an element
  void (*sum_rows)(const void* dots, int64_t at, int64_t width, int64_t from, int64_t to,
                   void* sums);
  void (*add)(const void* more, void* sums, int64_t n);
};

void multiply_all(const AnyDots& dots) {
  const int64_t lanes = bytes_of_vector() / dots.bytes, bytes = dots.bytes;
  const int64_t rows = dots.of.rows, width = dots.of.width;
  // Tiles of one size, so that none is narrower than a vector; they begin with one of a row.
  const int64_t tiles = (width + kTile - 1) / kTile, units = dots.of.planes * tiles;
  const int64_t tile = width / tiles, chunk = std::max(kRowBlock, kChunk / tile);
  const int64_t chunks =
      units < kEnoughUnits && rows * tile > 2 * kChunk ? (rows + chunk - 1) / chunk : 1;
  const int64_t part = kMostColumns * bytes;
  std::vector<char> parts(chunks == 1 ? 0 : static_cast<std::size_t>(units * chunks * part));
  const auto begin = [&](int64_t unit) {
    const int64_t t = unit % tiles;
    return t * width / tiles / lanes * lanes;
  };
  const auto columns = [&](int64_t unit) {
    return (unit % tiles == tiles - 1 ? width : begin(unit + 1)) - begin(unit);
  };
  const auto sums_of = [&](int64_t unit) {
    return dots.c + (unit / tiles * width + begin(unit)) * bytes;
  };
  const double numbers = 2.0 * static_cast<double>(rows * tile) / static_cast<double>(chunks);
  parallel_for(
      units * chunks, cost_of_moving(numbers * static_cast<double>(bytes)),
      [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          const int64_t unit = i / chunks, from = i % chunks * chunk;
          const int64_t at = unit / tiles * rows * width + begin(unit);
          dots.sum_rows(dots.dots, at, columns(unit), from,
                        chunks == 1 ? rows : std::min(rows, from + chunk),
                        chunks == 1 ? sums_of(unit) : parts.data() + i * part);
        }
      },
      1);
  if (chunks == 1) return;
  for (int64_t unit = 0; unit < units; ++unit) {
    char* const sums = parts.data() + unit * chunks * part;
    for (int64_t step = 1; step < chunks; step *= 2) {
      for (int64_t i = 0; i + step < chunks; i += 2 * step)
        dots.add(sums + (i + step) * part, sums + i * part, columns(unit));
    }
    std::copy_n(sums, columns(unit) * bytes, sums_of(unit));
  }
}

}  // namespace

template <class T>
bool multiply(const ColumnDots<T>& dots) {
  constexpr int64_t kBytes = sizeof(T);
  if (simd_level() == 0 || dots.of.rows == 0 || dots.of.width * kBytes < bytes_of_vector())
    return false;
  multiply_all({dots.of, &dots, reinterpret_cast<char*>(dots.c), kBytes, &sum_rows<T>, &add<T>});
  return true;
}

template bool multiply(const ColumnDots<float>& dots);
template bool multiply(const ColumnDots<double>& dots);
template bool multiply(const ColumnDots<uint32_t>& dots);
template bool multiply(const ColumnDots<uint64_t>& dots);

}  // namespace mxnet
