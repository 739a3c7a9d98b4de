// SPDX-License-Identifier: Apache-2.0
// Rows of a strided copy: gathering, spreading, reversing and moving of blocks.
#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "base/repeat_bytes.h"
#include "base/stream_copy.h"
#include "op/moving/repeat_elements.h"
#include "op/moving/reverse_row.h"
#include "op/moving/reverse_short_rows.h"
#include "op/moving/row_copy.h"
#include "op/moving/short_block.h"
#include "op/moving/spread_rows.h"
#include "op/moving/strided_kernels.h"

namespace mxnet {
namespace {

struct Block16 {
  uint64_t low, high;
};

// Blocks may lie unaligned: compilers make single moves of these.
template <class T>
T load(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}
template <class T>
void store(char* to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

template <class T>
void fill(char* out, T value, int64_t n, int64_t whole) {
  constexpr int64_t kBytes = sizeof(T), kFirst = kPatternBytes / kBytes;
  const bool is_long = n >= 8 * kFirst;
  for (int64_t i = 0; i < (is_long ? kFirst : n); ++i) store(out + i * kBytes, value);
  if (is_long) repeat_bytes(out, n * kBytes, whole);
}

// Few copies of each block: the count as a constant, for repeat and nearest-neighbour scaling.
template <class T, int kCount>
void spread(const char* in, char* out, const StridedLoop& outer) {
  for (int64_t o = 0; o < outer.size; ++o, in += outer.in, out += outer.out) {
    const T value = load<T>(in);
    for (int i = 0; i < kCount; ++i) store(out + i * static_cast<int>(sizeof(T)), value);
  }
}

template <class T>
void spread_rows(const char* in, char* out, const StridedLoop& outer, int64_t count) {
  constexpr int64_t kWidth = sizeof(T);
  if (outer.in == kWidth && outer.out == count * kWidth && outer.out < kLeastSpread)
    return repeat_elements(in, out, outer.size, kWidth, count);
  switch (count) {
    case 2:
      return spread<T, 2>(in, out, outer);
    case 3:
      return spread<T, 3>(in, out, outer);
    case 4:
      return spread<T, 4>(in, out, outer);
    default:
      if constexpr (sizeof(T) <= 8) {
        const int64_t bytes = count * kWidth;
        if (bytes >= kLeastSpread && bytes < kLongPattern)
          return spread_short_rows<T>(in, outer.in, out, outer.out, count, outer.size);
      }
      for (int64_t o = 0; o < outer.size; ++o)
        fill(out + o * outer.out, load<T>(in + o * outer.in), count, outer.size * outer.out);
  }
}

// Elements with steps between them become neighbours: four loads wait for each other's caches
// together.
template <class T>
void gather_row(const char* in, int64_t step, char* out, int64_t n) {
  constexpr int64_t kWidth = sizeof(T);
  int64_t i = 0;
  for (; i + 4 <= n; i += 4, in += 4 * step, out += 4 * kWidth) {
    const T a = load<T>(in), b = load<T>(in + step);
    const T c = load<T>(in + 2 * step), d = load<T>(in + 3 * step);
    if constexpr (kWidth <= 2) {  // one store: two a cycle would be the bound
      using All = std::conditional_t<kWidth == 1, uint32_t, uint64_t>;
      constexpr int kBits = 8 * sizeof(T);
      const All low = static_cast<All>(a | All{b} << kBits);
      store(out, static_cast<All>(low | (c | All{d} << kBits) << 2 * kBits));
    } else {
      store(out, a);
      store(out + kWidth, b);
      store(out + 2 * kWidth, c);
      store(out + 3 * kWidth, d);
    }
  }
  for (; i < n; ++i, in += step, out += kWidth) {
    asm("");  // vectors of so few take longer to set up
    store(out, load<T>(in));
  }
}

// Neighbours, or elements with steps between them, to places with steps between them. (The steps
// are numbers of their own: for all that the compiler knows, a store could change those of a loop.)
template <class T>
void scatter_row(const char* in, int64_t in_step, char* out, int64_t out_step, int64_t n) {
  int64_t i = 0;
  for (; i + 4 <= n; i += 4, in += 4 * in_step, out += 4 * out_step) {
    const T a = load<T>(in), b = load<T>(in + in_step);
    const T c = load<T>(in + 2 * in_step), d = load<T>(in + 3 * in_step);
    store(out, a);
    store(out + out_step, b);
    store(out + 2 * out_step, c);
    store(out + 3 * out_step, d);
  }
  for (; i < n; ++i, in += in_step, out += out_step) store(out, load<T>(in));
}

// Whether rows of elements lie one behind the other and are walked backwards, enough of them for a
// loop of vectors to be worth its call.
bool reverses_short_rows(const StridedLoop& outer, const StridedLoop& inner, int64_t width) {
  constexpr int64_t kFewBytes = 64;
  const int64_t row = inner.size * width;
  return inner.out == width && inner.in == -width && outer.in == row && outer.out == row &&
         outer.size * row >= kFewBytes;
}

template <class T>
void typed_rows(const char* in, char* out, const StridedLoop& outer, const StridedLoop& inner,
                int64_t, bool) {
  constexpr int64_t kWidth = sizeof(T);
  if (inner.out == kWidth && inner.in == 0) return spread_rows<T>(in, out, outer, inner.size);
  if constexpr (kWidth <= 8) {
    if (inner.out == kWidth && inner.in == -kWidth && inner.size * kWidth >= kLeastReversed)
      return reverse_rows<kWidth>(in, outer.in, out, outer.out, inner.size, outer.size);
    if (reverses_short_rows(outer, inner, kWidth) &&
        reverse_short_rows(in + inner.in * (inner.size - 1), out, outer.in, kWidth, outer.size))
      return;
    if (inner.out == kWidth && inner.in == 2 * kWidth && inner.size * kWidth >= kLeastReversed)
      return alternate_rows<kWidth>(in, outer.in, out, outer.out, inner.size, outer.size);
  }
  for (int64_t o = 0; o < outer.size; ++o, in += outer.in, out += outer.out) {
    if (inner.out == kWidth) {
      gather_row<T>(in, inner.in, out, inner.size);
    } else {
      scatter_row<T>(in, inner.in, out, inner.out, inner.size);
    }
  }
}

// A short block again and again: the first ones make a longer one, which is as fast as few of them
// would not be. False where nothing has been done.
bool repeat_often(const char* in, char* out, const StridedLoop& outer, const StridedLoop& inner,
                  int64_t width) {
  constexpr int64_t kLong = 128, kOften = 16;
  if (inner.in != 0 || inner.out != width || inner.size * width < kOften * kLong) return false;
  const int64_t together = kLong / width;
  if (together < 2) return false;
  const int64_t times = inner.size / together, block = together * width;
  for (int64_t o = 0; o < outer.size; ++o, in += outer.in, out += outer.out) {
    std::memcpy(out, in, static_cast<std::size_t>(width));
    for (int64_t done = 1; done < together; done *= 2)
      std::memcpy(out + done * width, out,
                  static_cast<std::size_t>(std::min(done, together - done) * width));
    if (!repeat_rows(out, 0, out + block, 0, block, times - 1, 1))
      copy_rows(out, 0, out + block, block, block, times - 1);
    std::memcpy(out + times * block, out,
                static_cast<std::size_t>((inner.size - times * together) * width));
  }
  return true;
}

// Fewer than 16 bytes, as many as no type has.
template <int64_t kHalf>
void short_rows(const char* in, char* out, const StridedLoop& outer, const StridedLoop& inner,
                int64_t width, bool) {
  if (repeat_often(in, out, outer, inner, width)) return;
  int64_t o = 0;
  // One block again and again: whole vectors, each of which ends in the place of the next one, but
  // for the last row, beyond which nothing is read or written.
  if (inner.in == 0 && inner.out == width && outer.in >= width && outer.out == inner.size * width) {
    std::array<char, 2 * kHalf> block;
    for (; o + 1 < outer.size; ++o, in += outer.in) {
      std::memcpy(block.data(), in, block.size());
      for (int64_t i = 0; i < inner.size; ++i, out += width)
        std::memcpy(out, block.data(), block.size());
    }
  }
  const bool reverses = inner.in == -width && inner.out == width;
  for (; o < outer.size; ++o, in += outer.in, out += outer.out) {
    if (reverses &&
        reverse_order_of_short_rows(in + (inner.size - 1) * inner.in, out, width, inner.size))
      continue;
    for (int64_t i = 0; i < inner.size; ++i)
      move_halves<kHalf>(in + i * inner.in, out + i * inner.out, width);
  }
}

// More than 16 bytes.
void long_rows(const char* in, char* out, const StridedLoop& outer, const StridedLoop& inner,
               int64_t width, bool past_caches) {
  const int64_t places =
      static_cast<int64_t>(reinterpret_cast<uintptr_t>(out)) | outer.out | inner.out | width;
  const bool streams = past_caches && worth_streaming(width, inner.in == width, places);
  if (!streams && repeat_often(in, out, outer, inner, width)) return;
  if (!streams && inner.in == 0 && inner.out == width &&
      repeat_rows(in, outer.in, out, outer.out, width, inner.size, outer.size))
    return;
  // A call for a few short ones would take longer than to move them: the first ones of as many
  // groups as the first-level cache holds, then the second ones and so on.
  constexpr int64_t kFew = 8, kShort = 256, kNear = int64_t{1} << 13;
  if (!streams && inner.size < kFew && width <= kShort && outer.size >= kFew) {
    const int64_t together = kNear / (width * inner.size);
    for (int64_t o = 0; o < outer.size; o += together) {
      const int64_t groups = std::min(together, outer.size - o);
      for (int64_t i = 0; i < inner.size; ++i) {
        copy_rows(in + o * outer.in + i * inner.in, outer.in, out + o * outer.out + i * inner.out,
                  outer.out, width, groups);
      }
    }
    return;
  }
  for (int64_t o = 0; o < outer.size; ++o, in += outer.in, out += outer.out) {
    if (!streams) {
      copy_rows(in, inner.in, out, inner.out, width, inner.size);
      continue;
    }
    stream_rows(out, inner.out, in, inner.in, static_cast<std::size_t>(width), inner.size);
  }
}

}  // namespace

StridedKernel rows_kernel(int64_t width) {
  switch (width) {
    case 1:
      return typed_rows<uint8_t>;
    case 2:
      return typed_rows<uint16_t>;
    case 4:
      return typed_rows<uint32_t>;
    case 8:
      return typed_rows<uint64_t>;
    case 16:
      return typed_rows<Block16>;
    default:
      if (width > 16) return long_rows;
      return with_half(width, [](auto half) -> StridedKernel { return short_rows<half>; });
  }
}

}  // namespace mxnet
