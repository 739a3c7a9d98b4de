// SPDX-License-Identifier: Apache-2.0
// Transposes whose last dimension is short, as of (batch, heads, length, width) with the batch
// last: a tile writes a few bytes of a line, and the rest of that line comes with other tiles.
#include <algorithm>
#include <array>
#include <cstring>

#include "base/stream_copy.h"
#include "op/moving/strided_kernels.h"

namespace mxnet {
namespace {

// Lines that are written at a time. Of those that are a multiple of a page apart the first-level
// cache holds twelve or eight; squares of bytes are sixteen wide.
constexpr int64_t kPage = 4096, kSquareOfBytes = 16;
template <class T>
int64_t lines_at_once(const StridedLoop& outer) {
  return sizeof(T) == 1 && outer.out % kPage != 0 ? kSquareOfBytes : 8;
}
// Lines of the input that stay there until all of their elements are moved.
constexpr int64_t kRows = 256;

// Less than the registers of a tile: one by one.
template <class T>
void scatter(const char* in, char* out, const StridedLoop& outer, const StridedLoop& inner) {
  constexpr int64_t kWidth = sizeof(T);
  for (int64_t i = 0; i < inner.size; ++i, in += inner.in, out += kWidth) {
    char* to = out;
    for (int64_t o = 0; o < outer.size; ++o, to += outer.out) {
      T value;
      std::memcpy(&value, in + o * kWidth, sizeof(value));
      std::memcpy(to, &value, sizeof(value));
    }
  }
}

// Bytes whose lines are a multiple of a page apart: a square would meet more of them than the cache
// holds, so pieces are put together elsewhere, and each line is written at once.
void join_bytes(const char* in, char* out, const StridedLoop& next, const StridedLoop& outer,
                const StridedLoop& inner) {
  constexpr int64_t kLines = kSquareOfBytes, kPitch = 256;
  std::array<char, kLines * kPitch> lines;
  const StridedKernel tile = tile_kernel(1);
  const int64_t block = kPitch / inner.size;
  for (int64_t o = 0; o < outer.size; o += kLines) {
    const StridedLoop part{std::min(kLines, outer.size - o), outer.in, kPitch};
    for (int64_t first = 0; first < next.size; first += block) {
      const int64_t count = std::min(block, next.size - first);
      const char* const from = in + first * next.in + o * outer.in;
      for (int64_t n = 0; n < count; ++n)
        tile(from + n * next.in, lines.data() + n * inner.size, part, inner, 1, false);
      char* const to = out + first * next.out + o * outer.out;
      for (int64_t i = 0; i < part.size; ++i)
        std::memcpy(to + i * outer.out, lines.data() + i * kPitch,
                    static_cast<std::size_t>(count * inner.size));
    }
  }
}

template <class T>
void join(const char* in, char* out, const StridedLoop& next, const StridedLoop& outer,
          const StridedLoop& inner) {
  constexpr int64_t kWidth = sizeof(T);
  const int64_t lines = lines_at_once<T>(outer);
  const StridedKernel tile = inner.size >= lines ? tile_kernel(kWidth) : nullptr;
  const int64_t block = std::max<int64_t>(1, kRows / inner.size);
  for (int64_t first = 0; first < next.size; first += block) {
    const int64_t last = std::min(first + block, next.size);
    for (int64_t o = 0; o < outer.size; o += lines) {
      const StridedLoop part{std::min(lines, outer.size - o), outer.in, outer.out};
      for (int64_t n = first; n < last; ++n) {
        const char* from = in + n * next.in + o * outer.in;
        char* to = out + n * next.out + o * outer.out;
        tile != nullptr ? tile(from, to, part, inner, kWidth, false)
                        : scatter<T>(from, to, part, inner);
      }
    }
  }
}

}  // namespace

void join_pieces(const char* in, char* out, const StridedLoop& next, const StridedLoop& outer,
                 const StridedLoop& inner, int64_t width) {
  switch (width) {
    case 1:
      if (outer.out % kPage == 0 && inner.size >= kSquareOfBytes)
        return join_bytes(in, out, next, outer, inner);
      return join<uint8_t>(in, out, next, outer, inner);
    case 2:
      return join<uint16_t>(in, out, next, outer, inner);
    case 4:
      return join<uint32_t>(in, out, next, outer, inner);
    case 8:
      return join<uint64_t>(in, out, next, outer, inner);
    default: {
      struct Sixteen {
        uint64_t halves[2];
      };
      return join<Sixteen>(in, out, next, outer, inner);
    }
  }
}

}  // namespace mxnet
