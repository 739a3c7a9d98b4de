// SPDX-License-Identifier: Apache-2.0
// Strided copies in which input and output are contiguous along different loops: transpositions.
// Small squares are turned in registers. A large box goes through a buffer in the second-level
// cache: it is read and written in stretches of many lines, so that each page is looked up once for
// all of them, no line is fetched twice whatever the alignment, and steps that are powers of two,
// whose lines share few places in the cache, cost no more than others.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "base/stream_copy.h"
#include "op/moving/strided_copy.h"
#include "op/moving/strided_kernels.h"
#include "op/moving/turned_lines.h"

namespace mxnet {
namespace {

struct Block16 {
  uint64_t low, high;
};

// kLanes x kLanes elements in vectors of 16 bytes, which every x86-64 and ARM has.
template <class T>
struct Square {
  static constexpr int64_t kLanes = 16 / sizeof(T);
  using Vector __attribute__((vector_size(16))) = T;

  // Rows of the input, which begin at row_at(i), become columns of `out`. Unrolled, so that the
  // rows are registers.
  template <class RowAt>
  static void turn(const RowAt& row_at, char* out, int64_t out_step) {
    Vector rows[kLanes];
#pragma GCC unroll 16
    for (int64_t i = 0; i < kLanes; ++i) std::memcpy(&rows[i], row_at(i), 16);
      // Interleaving the lower with the upper half of the rows moves one bit of the row number to
      // the column number; doing so for every bit swaps the two.
#pragma GCC unroll 4
    for (int64_t stage = 1; stage < kLanes; stage *= 2) {
      Vector next[kLanes];
#pragma GCC unroll 8
      for (int64_t i = 0; i < kLanes / 2; ++i) {
        next[2 * i] = interleave<0>(rows[i], rows[i + kLanes / 2]);
        next[2 * i + 1] = interleave<kLanes / 2>(rows[i], rows[i + kLanes / 2]);
      }
#pragma GCC unroll 16
      for (int64_t i = 0; i < kLanes; ++i) rows[i] = next[i];
    }
#pragma GCC unroll 16
    for (int64_t i = 0; i < kLanes; ++i) std::memcpy(out + i * out_step, &rows[i], 16);
  }

 private:
  template <int kFirst>
  static Vector interleave(Vector a, Vector b) {
    return interleave<kFirst>(a, b, std::make_integer_sequence<int, kLanes>{});
  }
  template <int kFirst, int... I>
  static Vector interleave(Vector a, Vector b, std::integer_sequence<int, I...>) {
    return __builtin_shufflevector(a, b, (kFirst + I / 2 + I % 2 * static_cast<int>(kLanes))...);
  }
};

template <>
struct Square<Block16> {
  static constexpr int64_t kLanes = 1;
  template <class RowAt>
  static void turn(const RowAt& row_at, char* out, int64_t) {
    std::memcpy(out, row_at(0), 16);
  }
};

// Few rows, as of the channels of a picture: each of them picks up its elements, a stretch of
// columns at a time that stays in the first-level cache.
template <class T>
void gather_rows(const char* in, int64_t in_step, char* out, int64_t out_step, int64_t rows,
                 int64_t columns) {
  constexpr int64_t kBytes = sizeof(T), kStretch = 1024;
  for (int64_t first = 0; first < columns; first += kStretch) {
    const int64_t last = std::min(columns, first + kStretch);
    for (int64_t r = 0; r < rows; ++r) {
      const char* from = in + r * kBytes;
      char* to = out + r * out_step;
      const auto pick = [&](auto step) {
        for (int64_t c = first; c < last; ++c)
          std::memcpy(to + c * kBytes, from + c * step, sizeof(T));
      };
      switch (in_step) {
        case 2 * kBytes:
          pick(std::integral_constant<int64_t, 2 * kBytes>());
          break;
        case 3 * kBytes:
          pick(std::integral_constant<int64_t, 3 * kBytes>());
          break;
        case 4 * kBytes:
          pick(std::integral_constant<int64_t, 4 * kBytes>());
          break;
        default:
          pick(in_step);
      }
    }
  }
}

// A box of `rows` x `columns` elements of the output. Steps are between rows of the output and
// between columns of it in the input. kFetches: asks for the next columns, which are short pieces
// of rows of the input, so that the processor sees none of them coming; bytes and halves spend more
// time on turning than on waiting.
template <class T, bool kFetches>
void turn_box(const char* in, int64_t in_step, char* out, int64_t out_step, int64_t rows,
              int64_t columns) {
  constexpr int64_t kBytes = sizeof(T), kLanes = Square<T>::kLanes;
  if (rows < kLanes || (rows <= 4 && in_step == rows * kBytes))
    return gather_rows<T>(in, in_step, out, out_step, rows, columns);
  // What is left at the ends goes into squares that overlap the ones before, unless it is so little
  // that one by one is faster.
  constexpr int64_t kFew = kLanes / 8;
  const int64_t left = rows % kLanes, left_columns = columns % kLanes;
  const int64_t whole_rows = left > kFew ? rows : rows - left;
  const int64_t whole_columns =
      left_columns > kFew && columns > kLanes ? columns : columns - left_columns;
  const auto move_one = [&](int64_t r, int64_t c) {
    std::memcpy(out + r * out_step + c * kBytes, in + r * kBytes + c * in_step, sizeof(T));
  };
  for (int64_t column = 0; column < whole_columns; column += kLanes) {
    const int64_t c = std::min(column, whole_columns - kLanes);
    for (int64_t row = 0; row < whole_rows; row += kLanes) {
      const int64_t r = std::min(row, whole_rows - kLanes);
      if constexpr (kFetches && kBytes >= 4) {
        if (r % (64 / kBytes) == 0) {
          for (int64_t i = kLanes; i < 2 * kLanes; ++i)
            __builtin_prefetch(in + r * kBytes + (c + i) * in_step);
        }
      }
      Square<T>::turn([&](int64_t i) { return in + r * kBytes + (c + i) * in_step; },
                      out + r * out_step + c * kBytes, out_step);
    }
    for (int64_t r = whole_rows; r < rows; ++r)
      for (int64_t i = 0; i < kLanes; ++i) move_one(r, c + i);
  }
  for (int64_t c = whole_columns; c < columns; ++c)
    for (int64_t r = 0; r < rows; ++r) move_one(r, c);
}

// Two columns become pairs, three become triples.
template <class T>
void pair_up(const char* __restrict a, const char* __restrict b, char* __restrict out,
             int64_t rows) {
  constexpr int64_t kBytes = sizeof(T);
  for (int64_t r = 0; r < rows; ++r) {
    std::memcpy(out + 2 * r * kBytes, a + r * kBytes, sizeof(T));
    std::memcpy(out + (2 * r + 1) * kBytes, b + r * kBytes, sizeof(T));
  }
}
template <class T>
void triple_up(const char* a, const char* b, const char* c, char* out, int64_t rows) {
  constexpr int64_t kBytes = sizeof(T);
  for (int64_t r = 0; r < rows; ++r, a += kBytes, b += kBytes, c += kBytes, out += 3 * kBytes) {
    std::memcpy(out, a, sizeof(T));
    std::memcpy(out + kBytes, b, sizeof(T));
    std::memcpy(out + 2 * kBytes, c, sizeof(T));
  }
}

// Columns too few for a square: one after the other, a stretch that stays in the first-level cache.
template <class T, class ColumnAt>
void weave(const ColumnAt& column_at, char* out, int64_t rows, int64_t columns) {
  constexpr int64_t kBytes = sizeof(T), kStretch = 1024;
  const int64_t out_step = columns * kBytes;
  for (int64_t first = 0; first < rows; first += kStretch) {
    const int64_t count = std::min(kStretch, rows - first);
    for (int64_t c = 0; c < columns; ++c) {
      const char* const from = column_at(c) + first * kBytes;
      char* const to = out + first * out_step + c * kBytes;
      for (int64_t r = 0; r < count; ++r)
        std::memcpy(to + r * out_step, from + r * kBytes, sizeof(T));
    }
  }
}

// Few columns, which begin at column_at(c), become rows that follow each other: of each column a
// line is read at a time, and what is written stays in the first-level cache meanwhile. kRoom: a
// vector's bytes behind the rows are the caller's to lose.
template <class T, bool kRoom, class ColumnAt>
void turn_narrow(const ColumnAt& column_at, char* out, int64_t rows, int64_t columns) {
  constexpr int64_t kBytes = sizeof(T), kLanes = Square<T>::kLanes, kLine = 64 / kBytes;
  // Lines between what is fetched and what is read: columns are more streams than the processor
  // sees by itself. Blocks (kRoom) are of what comes out of memory, which is further away.
  constexpr int64_t kAhead = kRoom ? 8 : 4;
  if (columns == 2) return pair_up<T>(column_at(0), column_at(1), out, rows);
  if (columns == 3) return triple_up<T>(column_at(0), column_at(1), column_at(2), out, rows);
  const int64_t out_step = columns * kBytes;
  const int64_t whole_columns = columns / kLanes * kLanes;
  // The last columns are turned first, as squares whose other lanes the next row overwrites.
  const int64_t rest = columns - whole_columns;
  const bool overlapping = 2 * rest > kLanes;
  const int64_t squares = whole_columns / kLanes + (overlapping ? 1 : 0);
  if (squares == 0) return weave<T>(column_at, out, rows, columns);
  const int64_t turned_columns = overlapping ? columns : whole_columns;
  const int64_t whole_rows =
      std::max<int64_t>(0, rows - (overlapping && !kRoom ? kLanes : 0)) / kLanes * kLanes;
  const auto move = [&](int64_t r, int64_t first_column) {
    for (int64_t c = first_column; c < columns; ++c)
      std::memcpy(out + r * out_step + c * kBytes, column_at(c) + r * kBytes, sizeof(T));
  };
  for (int64_t first = 0; first < whole_rows; first += kLine) {
    const int64_t last = std::min(first + kLine, whole_rows);
    for (int64_t c = 0; c < columns; ++c)
      __builtin_prefetch(column_at(c) + (first + kAhead * kLine) * kBytes);
    for (int64_t r = first; r < last; r += kLanes) {
      for (int64_t square = 0; square < squares; ++square) {
        const int64_t before = square == 0 ? squares - 1 : square - 1;
        const int64_t c = (overlapping ? before : square) * kLanes;
        Square<T>::turn(
            [&](int64_t i) { return column_at(std::min(c + i, columns - 1)) + r * kBytes; },
            out + r * out_step + c * kBytes, out_step);
      }
      if (turned_columns < columns)
        for (int64_t i = r; i < r + kLanes; ++i) move(i, turned_columns);
    }
  }
  for (int64_t r = whole_rows; r < rows; ++r) move(r, 0);
}

// The same past the caches, by blocks of rows in the first-level cache.
template <class T, class ColumnAt>
void stream_narrow(const ColumnAt& column_at, char* out, int64_t rows, int64_t columns) {
  constexpr int64_t kBlock = 8 << 10, kBytes = sizeof(T), kLine = 64 / kBytes;
  alignas(kLineBytes) char block[kBlock + 16];
  const int64_t row = columns * kBytes, fit = kBlock / row;
  const int64_t most = fit >= kLine ? fit / kLine * kLine : fit;
  for (int64_t first = 0; first < rows; first += most) {
    const int64_t count = std::min(most, rows - first);
    turn_narrow<T, true>([&](int64_t c) { return column_at(c) + first * kBytes; }, block, count,
                         columns);
    stream_copy(out + first * row, block, static_cast<std::size_t>(count * row));
  }
}

// Well inside the second-level cache (1 to 2 MiB a core); boxes of 256 x 256 floats, whose rows are
// a fourth of a page.
constexpr int64_t kBufferBytes = 640 << 10;
// Arrays up to here need no buffer: both fit the first-level cache, nearly.
constexpr int64_t kCloseBytes = 32 << 10;
// Rows up to here are written directly.
constexpr int64_t kNarrowBytes = 512;
// Rows of the buffer begin in different places of the first-level cache.
constexpr int64_t kRowGap = 64;

// One a thread, for good.
char* buffer() {
  thread_local const auto memory = std::make_unique<char[]>(kBufferBytes);
  return memory.get();
}

// Side of a box: a power of two whose rows with their gaps fit the buffer.
template <class T>
constexpr int64_t box_side() {
  int64_t side = 64;
  while (4 * side * side * static_cast<int64_t>(sizeof(T)) + 2 * side * kRowGap <= kBufferBytes)
    side *= 2;
  return side;
}

// Whether lines of the output can be written one by one.
bool in_lines(const char* out, const StridedLoop& outer) {
  return reinterpret_cast<std::uintptr_t>(out) % kLineBytes == 0 &&
         outer.out % static_cast<int64_t>(kLineBytes) == 0;
}

// Squares of lines: rows of the input are read on and on, and each line of the output is written
// past the caches at once. Needs no buffer, so that nothing goes through the second-level cache.
template <class T>
void turn_by_squares(const char* in, char* out, const StridedLoop& outer,
                     const StridedLoop& inner) {
  constexpr auto kLine = static_cast<int64_t>(kLineBytes);
  constexpr int64_t kBytes = sizeof(T), kSide = kLine / kBytes, kLanes = Square<T>::kLanes;
  constexpr int64_t kAhead = 512;
  alignas(kLineBytes) char square[kSide * kLine];
  const int64_t rows = outer.size / kSide * kSide, columns = inner.size / kSide * kSide;
  for (int64_t c = 0; c < columns; c += kSide) {
    for (int64_t r = 0; r < rows; r += kSide) {
      const char* from = in + r * kBytes + c * inner.in;
      for (int64_t i = 0; i < kSide; ++i) __builtin_prefetch(from + i * inner.in + kAhead);
      for (int64_t i = 0; i < kSide; i += kLanes) {
        for (int64_t j = 0; j < kSide; j += kLanes) {
          Square<T>::turn([&](int64_t k) { return from + i * kBytes + (j + k) * inner.in; },
                          square + i * kLine + j * kBytes, kLine);
        }
      }
      stream_lines(out + r * outer.out + c * kBytes, outer.out, square, kSide);
    }
  }
  turn_box<T, false>(in + columns * inner.in, inner.in, out + columns * kBytes, outer.out, rows,
                     inner.size - columns);
  turn_box<T, false>(in + rows * kBytes, inner.in, out + rows * outer.out, outer.out,
                     outer.size - rows, inner.size);
}

template <class T>
void tiles(const char* in, char* out, const StridedLoop& outer, const StridedLoop& inner, int64_t,
           bool past_caches) {
  constexpr int64_t kBytes = sizeof(T), kSide = box_side<T>(), kPitch = kSide * kBytes + kRowGap;
  if (turn_lines(in, out, outer, inner, kBytes, past_caches)) return;
  // What lies close together stays in the first-level cache without help; a few rows or columns are
  // streams.
  const int64_t span = std::max(std::abs(outer.out) * outer.size, std::abs(inner.in) * inner.size);
  if (inner.size * kBytes <= kNarrowBytes && outer.size > 16 && outer.out == inner.size * kBytes) {
    const auto column_at = [&](int64_t c) { return in + c * inner.in; };
    return past_caches ? stream_narrow<T>(column_at, out, outer.size, inner.size)
                       : turn_narrow<T, false>(column_at, out, outer.size, inner.size);
  }
  if (span <= kCloseBytes || outer.size <= 16 || inner.size <= 16)
    return turn_box<T, false>(in, inner.in, out, outer.out, outer.size, inner.size);
  // Smaller elements gain nothing by lines: one of them comes out of more rows of the input than
  // the processor follows.
  if constexpr (sizeof(T) == 8) {
    if (past_caches && in_lines(out, outer)) return turn_by_squares<T>(in, out, outer, inner);
  }
  char* box = buffer();
  const auto write = [&](char* to, const char* from, int64_t bytes) {
    const auto count = static_cast<std::size_t>(bytes);
    past_caches ? stream_copy(to, from, count) : void(std::memcpy(to, from, count));
  };
  for (int64_t o = 0; o < outer.size; o += kSide) {
    const int64_t rows = std::min(kSide, outer.size - o);
    for (int64_t i = 0; i < inner.size; i += kSide) {
      const int64_t columns = std::min(kSide, inner.size - i);
      turn_box<T, true>(in + o * kBytes + i * inner.in, inner.in, box, kPitch, rows, columns);
      for (int64_t r = 0; r < rows; ++r) {
        write(out + (o + r) * outer.out + i * kBytes, box + r * kPitch, columns * kBytes);
      }
    }
  }
}

template <class T>
void interleave_elements(std::span<const char* const> columns, int64_t first, char* out,
                         int64_t rows) {
  turn_narrow<T, false>(
      [&](int64_t c) {
        return columns[static_cast<std::size_t>(c)] + first * static_cast<int64_t>(sizeof(T));
      },
      out, rows, static_cast<int64_t>(columns.size()));
}

}  // namespace

void interleave(std::span<const char* const> columns, int64_t first, void* out, int64_t rows,
                std::size_t element_bytes) {
  const auto run = element_bytes == 1   ? interleave_elements<uint8_t>
                   : element_bytes == 2 ? interleave_elements<uint16_t>
                   : element_bytes == 4 ? interleave_elements<uint32_t>
                                        : interleave_elements<uint64_t>;
  run(columns, first, static_cast<char*>(out), rows);
}

StridedKernel tile_kernel(int64_t width) {
  switch (width) {
    case 1:
      return tiles<uint8_t>;
    case 2:
      return tiles<uint16_t>;
    case 4:
      return tiles<uint32_t>;
    case 8:
      return tiles<uint64_t>;
    default:
      return tiles<Block16>;
  }
}

}  // namespace mxnet
