// SPDX-License-Identifier: Apache-2.0
// Transposes whose last dimension is short, as of (batch, heads, length, width) with the batch
// last: a tile writes a few bytes of a line, and the rest of that line comes with other tiles.
#include <algorithm>
#include <cstring>

#include "base/stream_copy.h"
#include "op/moving/strided_kernels.h"

namespace mxnet {
namespace {

// Lines that are written at a time. Of those that are a multiple of a page apart the first-level
// cache holds twelve or eight; squares of bytes are sixteen wide, but with as many such lines they
// take six times as long as with eight.
template <class T>
int64_t lines_at_once(const StridedLoop& outer) {
  return sizeof(T) == 1 && outer.out % 4096 != 0 ? 16 : 8;
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
