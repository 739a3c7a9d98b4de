// SPDX-License-Identifier: Apache-2.0
// Rows, columns and many short rows have loops of their own; what shares them among threads is
// there once for all types.
#include "op/reducing/arg_positions.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "base/simd.h"
#include "base/simd_intrinsics.h"
#include "op/loops/convert.h"
#include "op/moving/row_copy.h"
#include "op/moving/strided_kernels.h"
#include "op/run/dispatch.h"
#include "op/run/parallel.h"

// Vectors are passed between functions that are always inlined: no call, no ABI to warn of.
#pragma GCC diagnostic ignored "-Wpsabi"
#pragma GCC diagnostic ignored "-Wuninitialized"  // GCC 12's own intrinsics, not ours

namespace mxnet {
namespace {

constexpr int64_t kTile = 256;

template <bool largest, class T>
bool beats(T a, T b) {
  return (largest ? a > b : a < b) | ((a != a) & (b == b));
}

// Elements whose positions fit lanes as narrow as the elements.
constexpr int64_t kRowBlock = int64_t{1} << 30;

// Numbers of rows, in lanes as wide as the elements of type C, and how many these count.
template <class C>
using RowNumber = std::conditional_t<sizeof(C) == 1, uint8_t,
                                     std::conditional_t<sizeof(C) == 8, int64_t, int32_t>>;
template <class C>
inline constexpr RowNumber<C> kNoRow = std::numeric_limits<RowNumber<C>>::max();
template <class C>
inline constexpr int64_t kMostRows = sizeof(C) == 1 ? 255 : kRowBlock;

// What is the best of a column: the greatest of numbers whose bits `flip` has changed, so that the
// least are the greatest. Unsigned bytes count `most` at most: those of bool are true alike.
template <class C>
struct ColumnOrder {
  RowNumber<C> flip;
  C most;
};
template <bool largest, class C>
constexpr ColumnOrder<C> column_order(C most) {
  using Number = RowNumber<C>;
  if (largest) return {0, most};
  return {std::is_floating_point_v<C> ? std::numeric_limits<Number>::min() : Number(-1), most};
}

// Elements of which a number has a bit each.
constexpr int64_t kFew = 64;
// Those that are met twice sooner than the number of each vector is kept.
template <class T>
inline constexpr int64_t kSome = 1024 / sizeof(T);

#define MX_SIMD_FILE "op/reducing/arg_loops.inc"
#include "base/simd_targets.h"

// at[i]: the best of row i of `rows`, which follow each other. fn(x, rows, n, at) does so for rows
// of at most `block` elements; of longer ones the best of a row's blocks is.
template <bool largest, class T, class Fn>
void best_by_blocks(const T* x, int64_t rows, int64_t n, int64_t* at, int64_t block, const Fn& fn) {
  using C = ComputeType<T>;
  if (n <= block) return fn(x, rows, n, at);
  for (int64_t row = 0; row < rows; ++row, x += n) {
    int64_t best = 0;
    for (int64_t start = 0, here = 0; start < n; start += block) {
      fn(x + start, 1, std::min(n - start, block), &here);
      const int64_t other = start + here;
      if (start == 0 || beats<largest>(static_cast<C>(x[other]), static_cast<C>(x[best])))
        best = other;
    }
    at[row] = best;
  }
}

// A template argument list with a comma cannot stand in a macro's argument.
#define MX_FEW_BYTES best_of_rows_of_few<largest, T>
#define MX_VALUE best_value<largest, T>
#define MX_POSITIONS best_positions<largest, ComputeType<T>>
template <bool largest, class T>
void best_of_rows(const T* x, int64_t rows, int64_t n, int64_t* at) {
  if constexpr (kIsHalf<T>) {
    constexpr int64_t kBlock = 1024;
    std::array<float, kBlock> numbers;
    const auto best_of_converted = [&](const T* row, int64_t left, int64_t length, int64_t* to) {
      for (int64_t count; left > 0; left -= count, row += count * length, to += count) {
        count = std::min(left, kBlock / length);
        convert_array(row, numbers.data(), count * length);
        MX_SIMD_CALL_FOR_TRAFFIC(MX_POSITIONS)(numbers.data(), count, length, to);
      }
    };
    best_by_blocks<largest>(x, rows, n, at, kBlock, best_of_converted);
  } else if constexpr (std::is_same_v<T, bool>) {
    MX_SIMD_CALL_FOR_TRAFFIC(first_truths<largest>)
    (reinterpret_cast<const uint8_t*>(x), rows, n, at);
  } else if constexpr (std::is_same_v<T, int64_t>) {
    // AVX-512 alone compares these at once.
    best_by_blocks<largest>(x, rows, n, at, kRowBlock, MX_SIMD_CALL(MX_POSITIONS));
  } else if constexpr (sizeof(T) >= 4) {
    best_by_blocks<largest>(x, rows, n, at, kRowBlock, MX_SIMD_CALL_FOR_TRAFFIC(MX_POSITIONS));
  } else {
    if (n >= 16 && n <= kSome<T> && MX_SIMD_CALL_FOR_TRAFFIC(MX_FEW_BYTES)(x, rows, n, at)) return;
    // The value first, at the speed of memory; then where it is, out of the cache.
    for (int64_t row = 0; row < rows; ++row, x += n) {
      const T value = MX_SIMD_CALL_FOR_TRAFFIC(MX_VALUE)(x, n);
      at[row] = MX_SIMD_CALL_FOR_TRAFFIC(first_of<T>)(x, n, value);
    }
  }
}
#undef MX_POSITIONS
#undef MX_VALUE
#undef MX_FEW_BYTES

// A row longer than this is worth more than one thread.
constexpr int64_t kStretch = int64_t{1} << 16;

// Of one by stretches of it: the best of each, then the best of these. `best` is best_of_rows of
// elements of `size` bytes, so that this is there once for all types.
using BestOfRows = void (*)(const void* x, int64_t rows, int64_t n, int64_t* at);
int64_t best_of_long_row(const void* x, int64_t n, std::size_t size, BestOfRows best) {
  const auto* const bytes = static_cast<const std::byte*>(x);
  const auto stretches = static_cast<std::size_t>((n + kStretch - 1) / kStretch);
  std::vector<int64_t> found(stretches);
  std::vector<std::byte> values(stretches * size);
  parallel_for(
      static_cast<int64_t>(stretches), static_cast<double>(kStretch),
      [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          const auto stretch = static_cast<std::size_t>(i);
          const int64_t start = i * kStretch, count = std::min(kStretch, n - start);
          const std::byte* const from = bytes + static_cast<std::size_t>(start) * size;
          int64_t at = 0;
          best(from, 1, count, &at);
          found[stretch] = start + at;
          std::memcpy(values.data() + stretch * size, from + static_cast<std::size_t>(at) * size,
                      size);
        }
      },
      1);
  int64_t stretch = 0;
  best(values.data(), 1, static_cast<int64_t>(stretches), &stretch);
  return found[static_cast<std::size_t>(stretch)];
}

// Numbers of half types are compared as float, to which `buffer` they are converted together, bool
// as bytes.
template <class T>
using Compared = std::conditional_t<std::is_same_v<T, bool>, uint8_t, ComputeType<T>>;
// What an element counts at most: bytes of bool are true alike.
template <class T>
inline constexpr Compared<T> kMost = std::numeric_limits<Compared<T>>::max();
template <>
inline constexpr uint8_t kMost<bool> = 1;
template <class T>
const Compared<T>* compared(const T* x, int64_t n, Compared<T>* buffer) {
  if constexpr (kIsHalf<T>) {
    convert_array(x, buffer, n);
    return buffer;
  } else {
    return reinterpret_cast<const Compared<T>*>(x);
  }
}

[[gnu::noinline]] void limit_bytes(uint8_t* x, int64_t n, uint8_t most) {
  for (int64_t i = 0; i < n; ++i) x[i] = std::min(x[i], most);
}

// at[j]: of column j of `width` neighbouring ones, at most kTile, of n rows.
template <bool largest, class T>
void best_of_columns(const T* x, int64_t n, int64_t stride, int64_t width, int64_t* at,
                     Compared<T> most = kMost<T>) {
  using C = Compared<T>;
  using Row = RowNumber<C>;
  std::array<C, kTile> best;
  std::array<Row, kTile> found;
  std::array<C, kTile> buffer;
  const ColumnOrder<C> order = column_order<largest>(most);
  std::fill_n(at, width, 0);
  std::copy_n(compared(x, width, buffer.data()), width, best.data());
  if constexpr (std::is_same_v<C, uint8_t>) {
    if (most < kMost<uint8_t>) limit_bytes(best.data(), width, most);
  }
  // Rows that are compared in one call: converted ones where they lie together, others all.
  const int64_t batch = !kIsHalf<T> ? kMostRows<C> : stride == width ? kTile / width : 1;
  for (int64_t block = 0; block < n; block += kMostRows<C>) {
    std::fill_n(found.data(), width, kNoRow<C>);
    const int64_t rows = std::min(kMostRows<C>, n - block);
    for (int64_t first = 0; first < rows; first += batch) {
      const int64_t count = std::min(batch, rows - first);
      const C* from =
          compared(x + (block + first) * stride, count == 1 ? width : count * width, buffer.data());
      MX_SIMD_CALL_FOR_TRAFFIC(better_rows<C>)
      (from, count, kIsHalf<T> ? width : stride, width, order, static_cast<Row>(first), best.data(),
       found.data());
    }
    for (std::size_t k = 0; k < static_cast<std::size_t>(width); ++k)
      at[k] = found[k] != kNoRow<C> ? block + found[k] : at[k];  // which nobody could guess
  }
}

// Columns so narrow fill no vectors.
constexpr int64_t kNarrow = 32;

// The same of narrow columns whose rows follow each other: several rows are side by side as one
// wide row, of which each column has found the best of its own rows. These are then compared one by
// one, which takes as long as many rows by themselves.
template <bool largest, class T>
void best_of_narrow_columns(const T* x, int64_t n, int64_t stride, int64_t width, int64_t* at) {
  constexpr int64_t kWide = 128, kFewestWideRows = 8, kManyRows = 512, kManyOfFew = 256;
  const bool few = width * static_cast<int64_t>(sizeof(Compared<T>)) <= 8;
  if (stride != width || width >= kNarrow || n < (few ? kManyOfFew : kManyRows))
    return best_of_columns<largest>(x, n, stride, width, at);
  const int64_t side = std::min(kWide / width, n / kFewestWideRows);
  using C = Compared<T>;
  std::array<int64_t, kWide> wide_row;
  best_of_columns<largest>(x, n / side, side * width, side * width, wide_row.data());
  for (int64_t j = 0; j < width; ++j) {
    const auto value_at = [&](int64_t row) {
      const int64_t i = row * width + j;
      if constexpr (std::is_same_v<T, bool>)
        return std::min(reinterpret_cast<const C*>(x)[i], kMost<bool>);
      else
        return static_cast<C>(x[i]);
    };
    int64_t found = wide_row[static_cast<std::size_t>(j)] * side;
    C best = value_at(found);
    const auto take = [&](int64_t row) {
      const C value = value_at(row);
      const bool alike = value == best || (value != value && best != best);
      if (!beats<largest>(value, best) && !(alike && row < found)) return;
      best = value;
      found = row;
    };
    for (int64_t k = 1; k < side; ++k)
      take(wide_row[static_cast<std::size_t>(k * width + j)] * side + k);
    for (int64_t row = n - n % side; row < n; ++row) take(row);
    at[j] = found;
  }
}

// Of n rows of `inner` elements in each of `outer` blocks, where both are few: all columns of
// several blocks together, which are at most kTile.
constexpr int64_t kShortRow = 16;
template <bool largest, class T>
void best_of_short_rows(const T* x, int64_t outer, int64_t n, int64_t inner, int64_t* at) {
  using C = Compared<T>;
  constexpr int64_t kBytes = sizeof(C);
  const int64_t columns = outer * inner;
  std::array<C, kShortRow * kTile> buffer, turned;
  const auto* from = reinterpret_cast<const char*>(compared(x, columns * n, buffer.data()));
  auto* const to = reinterpret_cast<char*>(turned.data());
  if (inner == 1) {
    tile_kernel(kBytes)(from, to, {n, kBytes, columns * kBytes}, {columns, n * kBytes, kBytes},
                        kBytes, false);
  } else {
    pack_pieces(from, n * inner * kBytes, to, inner * kBytes, outer, n);
  }
  best_of_columns<largest>(turned.data(), n, columns, columns, at, kMost<T>);
}

// The loops for one type of elements, and the store for that of positions, so that what shares them
// among threads does not know either.
struct Loops {
  std::size_t size;  // of an element
  bool ends_early;   // as a search for the first bool that is set
  BestOfRows rows;
  void (*columns)(const void* x, int64_t n, int64_t stride, int64_t width, int64_t* at);
  void (*short_rows)(const void* x, int64_t outer, int64_t n, int64_t inner, int64_t* at);
  void (*store)(const int64_t* at, void* out, int64_t first, int64_t n);
};
template <bool largest, class T, class Out>
Loops loops_of() {
  return {sizeof(T),
          std::is_same_v<T, bool>,
          [](const void* x, int64_t rows, int64_t n, int64_t* at) {
            best_of_rows<largest>(static_cast<const T*>(x), rows, n, at);
          },
          [](const void* x, int64_t n, int64_t stride, int64_t width, int64_t* at) {
            best_of_narrow_columns<largest>(static_cast<const T*>(x), n, stride, width, at);
          },
          [](const void* x, int64_t outer, int64_t n, int64_t inner, int64_t* at) {
            best_of_short_rows<largest>(static_cast<const T*>(x), outer, n, inner, at);
          },
          [](const int64_t* at, void* out, int64_t first, int64_t n) {
            convert_array(at, static_cast<Out*>(out) + first, n);
          }};
}

void run(const RowLayout& rows, const Loops& loops, const void* array, void* out) {
  const auto* const x = static_cast<const std::byte*>(array);
  const auto size = static_cast<int64_t>(loops.size);
  const double cost = static_cast<double>(rows.length);
  const bool searched = loops.ends_early && rows.inner == 1;
  if (!searched && rows.length <= kShortRow && rows.inner < kNarrow && rows.outer >= kShortRow) {
    return parallel_for(rows.outer, cost * static_cast<double>(rows.inner),
                        [&](int64_t first, int64_t last) {
                          std::array<int64_t, kTile> at;
                          for (int64_t count; first < last; first += count) {
                            count = std::min(kTile / rows.inner, last - first);
                            loops.short_rows(x + first * rows.length * rows.inner * size, count,
                                             rows.length, rows.inner, at.data());
                            loops.store(at.data(), out, first * rows.inner, count * rows.inner);
                          }
                        });
  }
  if (rows.inner == 1) {
    if (!searched && rows.length > kStretch && rows.outer < threads_for(rows.outer * rows.length)) {
      for (int64_t o = 0; o < rows.outer; ++o) {
        const int64_t at =
            best_of_long_row(x + o * rows.length * size, rows.length, loops.size, loops.rows);
        loops.store(&at, out, o, 1);
      }
      return;
    }
    return parallel_for(
        rows.outer, cost,
        [&](int64_t first, int64_t last) {
          std::array<int64_t, kTile> at;
          for (int64_t count; first < last; first += count) {
            count = std::min(kTile, last - first);
            loops.rows(x + first * rows.length * size, count, rows.length, at.data());
            loops.store(at.data(), out, first, count);
          }
        },
        1);
  }
  const int64_t tiles = (rows.inner + kTile - 1) / kTile;
  parallel_for(
      rows.outer * tiles, cost * static_cast<double>(std::min(kTile, rows.inner)),
      [&](int64_t first, int64_t last) {
        for (int64_t unit = first; unit < last; ++unit) {
          const int64_t o = unit / tiles, column = unit % tiles * kTile;
          const int64_t width = std::min(kTile, rows.inner - column);
          std::array<int64_t, kTile> at;
          loops.columns(x + (o * rows.length * rows.inner + column) * size, rows.length, rows.inner,
                        width, at.data());
          loops.store(at.data(), out, o * rows.inner + column, width);
        }
      },
      1);
}

}  // namespace

void find_positions(bool largest, const RowLayout& rows, const Tensor& in, const Tensor& out,
                    const char* tag) {
  if (rows.length == 1) {  // nothing to choose from
    std::memset(out.data, 0, static_cast<std::size_t>(out.size()) * dtype_size(out.dtype));
    return;
  }
  dispatch_dtype(in.dtype, tag, [&]<class T>(TypeTag<T>) {
    const auto run_to = [&]<class Out>(TypeTag<Out>) {
      run(rows, largest ? loops_of<true, T, Out>() : loops_of<false, T, Out>(), in.data, out.data);
    };
    if (out.dtype == DType::kInt64) return run_to(TypeTag<int64_t>());
    run_to(TypeTag<T>());
  });
}

}  // namespace mxnet
