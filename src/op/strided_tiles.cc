// SPDX-License-Identifier: Apache-2.0
// Tiles of a strided copy in which input and output are contiguous along different loops. A tile of
// 64 x 64 bytes' worth of elements is turned in registers into a buffer in the first-level cache
// and written from there in whole cache lines: each line of either array is touched once, whatever
// the steps (powers of two included, whose lines share few places in the cache).
#include <algorithm>
#include <cstring>

#include "op/strided_kernels.h"

namespace mxnet {
namespace {

constexpr int64_t kLine = 64;

// kLanes x kLanes elements in vectors of 16 bytes, which every x86-64 and ARM has.
template <class T>
struct Square {
  static constexpr int kLanes = 16 / sizeof(T);
  using Vector __attribute__((vector_size(16))) = T;

  // Turns the square: `from` has rows `in_step` bytes apart, `to` rows of a whole line.
  static void turn(const char* from, int64_t in_step, char* to) {
    Vector rows[kLanes];
    for (int i = 0; i < kLanes; ++i) std::memcpy(&rows[i], from + i * in_step, 16);
    // Interleaving the lower with the upper half of the rows moves one bit of the row number to the
    // column number; doing so for every bit swaps the two.
    for (int stage = 1; stage < kLanes; stage *= 2) {
      Vector next[kLanes];
      for (int i = 0; i < kLanes / 2; ++i) {
        next[2 * i] = interleave<0>(rows[i], rows[i + kLanes / 2]);
        next[2 * i + 1] = interleave<kLanes / 2>(rows[i], rows[i + kLanes / 2]);
      }
      std::copy_n(next, kLanes, rows);
    }
    for (int i = 0; i < kLanes; ++i) std::memcpy(to + i * kLine, &rows[i], 16);
  }

 private:
  template <int kFirst>
  static Vector interleave(Vector a, Vector b) {
    return interleave<kFirst>(a, b, std::make_integer_sequence<int, kLanes>{});
  }
  template <int kFirst, int... I>
  static Vector interleave(Vector a, Vector b, std::integer_sequence<int, I...>) {
    return __builtin_shufflevector(a, b, (kFirst + I / 2 + I % 2 * kLanes)...);
  }
};

struct Block16 {
  uint64_t low, high;
};

// Inputs rows of `inner`, outputs rows of `outer`; any size up to a full tile.
template <class T>
void turn_ragged(const char* in, char* out, const StridedLoop& outer, const StridedLoop& inner,
                 int64_t rows, int64_t columns) {
  for (int64_t o = 0; o < rows; ++o) {
    for (int64_t i = 0; i < columns; ++i) {
      std::memcpy(out + o * outer.out + i * static_cast<int64_t>(sizeof(T)),
                  in + o * static_cast<int64_t>(sizeof(T)) + i * inner.in, sizeof(T));
    }
  }
}

template <class T>
void turn_tile(const char* in, char* out, const StridedLoop& outer, const StridedLoop& inner) {
  constexpr int64_t kSide = kLine / static_cast<int64_t>(sizeof(T));
  alignas(kLine) char buffer[kSide * kLine];
  if constexpr (sizeof(T) < 16) {
    constexpr int64_t kLanes = Square<T>::kLanes;
    for (int64_t i = 0; i < kSide; i += kLanes) {
      for (int64_t o = 0; o < kSide; o += kLanes) {
        Square<T>::turn(in + i * inner.in + o * static_cast<int64_t>(sizeof(T)), inner.in,
                        buffer + o * kLine + i * static_cast<int64_t>(sizeof(T)));
      }
    }
  } else {
    for (int64_t i = 0; i < kSide; ++i)
      for (int64_t o = 0; o < kSide; ++o)
        std::memcpy(buffer + o * kLine + i * 16, in + i * inner.in + o * 16, 16);
  }
  for (int64_t o = 0; o < kSide; ++o) std::memcpy(out + o * outer.out, buffer + o * kLine, kLine);
}

// Tiles in blocks of kBlock x kBlock, so that the pages of both arrays stay in reach of the TLB.
template <class T>
void tiles(const char* in, char* out, const StridedLoop& outer, const StridedLoop& inner, int64_t) {
  constexpr int64_t kBytes = sizeof(T);
  constexpr int64_t kSide = kLine / kBytes;
  constexpr int64_t kBlock = 8 * kSide;
  for (int64_t block_o = 0; block_o < outer.size; block_o += kBlock) {
    for (int64_t block_i = 0; block_i < inner.size; block_i += kBlock) {
      const int64_t end_o = std::min(outer.size, block_o + kBlock);
      const int64_t end_i = std::min(inner.size, block_i + kBlock);
      for (int64_t o = block_o; o < end_o; o += kSide) {
        for (int64_t i = block_i; i < end_i; i += kSide) {
          const char* from = in + o * kBytes + i * inner.in;
          char* to = out + o * outer.out + i * kBytes;
          const int64_t rows = std::min(kSide, end_o - o), columns = std::min(kSide, end_i - i);
          if (rows == kSide && columns == kSide) {
            turn_tile<T>(from, to, outer, inner);
          } else {
            turn_ragged<T>(from, to, outer, inner, rows, columns);
          }
        }
      }
    }
  }
}

}  // namespace

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
