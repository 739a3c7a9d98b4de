// SPDX-License-Identifier: Apache-2.0
// Drives the loops of reduce_loops.h over a plan, for reduce_engine.cc.
//
// Work is cut into units (neighbouring outputs that one thread computes together) and, where there
// are few units, each unit's elements into chunks whose results are merged pairwise. Within a chunk
// contiguous elements are summed in blocks that merge as a binary counter does (Cascade), and
// columns in blocks of rows.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "base/simd.h"
#include "base/stream_copy.h"
#include "op/loops/convert.h"
#include "op/moving/row_copy.h"
#include "op/moving/strided_kernels.h"
#include "op/reducing/byte_sums.h"
#include "op/reducing/reduce_blocks.h"
#include "op/reducing/reduce_engine.h"
#include "op/run/parallel.h"

namespace mxnet::reduce_units {

// T: elements; L: what they are converted to on the way to the loops (T itself where possible).
template <class T, class L, class A>
class Units {
 public:
  Units(Reduction reduction, const T* x, const ReducePlan& plan, const A* about,
        const ReduceStore<A>& store)
      : loops_(reduce_loops<L, A>(kNarrowLanes ? selection(reduction) : reduction)),
        question_(reduction == Reduction::any   ? Question::kAny
                  : reduction == Reduction::all ? Question::kAll
                                                : Question::kNone),
        adds_bytes_(kBytes && reduction == Reduction::sum),
        from_memory_(plan.outputs() * plan.extent() * int64_t{sizeof(T)} >= kPastCaches),
        next_(kDirect && simd_level_for_traffic() == 2 && plan.reduced().count() == 0 &&
                      plan.outputs() * plan.extent() * int64_t{sizeof(T)} > kNearCache
                  ? kRowsFollow
                  : 0),
        x_(x),
        plan_(plan),
        about_(about),
        store_(store) {}

  void run() {
    if (plan_.outputs() == 0) return;
    if (plan_.inner_reduced() || are_short()) {
      run_rows();
    } else {
      run_columns();
    }
  }

 private:
  static constexpr bool kDirect = std::is_same_v<T, L>;
  // Whether there is anything, and whether all is, the greatest and the least unsigned number say.
  static constexpr bool kNarrowLanes = std::is_integral_v<A> && sizeof(A) < 8;
  static constexpr Reduction selection(Reduction reduction) {
    return reduction == Reduction::any   ? Reduction::max
           : reduction == Reduction::all ? Reduction::min
                                         : reduction;
  }
  enum class Question : uint8_t { kNone, kAny, kAll };
  // Whether no more elements can change the value.
  bool settled(A value) const {
    return (question_ == Question::kAny && value != A(0)) ||
           (question_ == Question::kAll && value == A(0));
  }
  static constexpr bool kBytes =
      (std::is_same_v<T, uint8_t> || std::is_same_v<T, bool>)&&std::is_same_v<A, int64_t>;

  static constexpr uint8_t kMostOfByte = std::is_same_v<T, bool> ? kTruth : kAnyByte;
  static const uint8_t* bytes_at(const T* x) { return reinterpret_cast<const uint8_t*>(x); }

  [[gnu::noinline]] static void truths(const uint8_t* x, L* to, int64_t n) {
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<L>(x[i] != 0);
  }
  static void converted(const T* x, L* to, int64_t n) {
    if constexpr (std::is_same_v<T, bool>) {
      truths(bytes_at(x), to, n);
    } else {
      convert_array(x, to, n);
    }
  }

  // Elements as the loops take them.
  const L* loaded(const T* x, int64_t n, L* buffer) const {
    if constexpr (kDirect) {
      return x;
    } else {
      converted(x, buffer, n);
      return buffer;
    }
  }

  // ---- innermost dimension reduced -------------------------------------------------------------

  void run_rows() {
    const int64_t outputs = plan_.outputs(), extent = plan_.extent();
    if (outputs < kEnoughUnits && extent > 2 * kChunk) return run_divided_rows();
    const bool turned = are_short(), follow = rows_follow();
    const int64_t width = this->width(), most = kLeaf / width;
    parallel_for(
        outputs / width, kRowCost + cost(extent * width),
        [&](int64_t first, int64_t last) {
          std::array<A, kLeaf> values;
          for (int64_t start = first; start < last; start += most) {
            const int64_t n = std::min(most, last - start);
            if (turned) {
              short_rows(start, n, values.data());
            } else if (follow) {
              following_rows(start, n, values.data());
            } else {
              for (int64_t i = 0; i < n; ++i)
                values[static_cast<std::size_t>(i)] = output_part(start + i, 0, extent);
            }
            store_(start * width, values.data(), n * width);
          }
        },
        1);
  }

  void run_divided_rows() {
    const int64_t chunk = kStreams<L, A> && streams_ ? kChunk : kChunk / 2;
    const int64_t extent = plan_.extent(), chunks = (extent + chunk - 1) / chunk;
    std::vector<A> parts(static_cast<std::size_t>(plan_.outputs() * chunks));
    parallel_for(
        plan_.outputs() * chunks, cost(chunk),
        [&](int64_t first, int64_t last) {
          for (int64_t i = first; i < last; ++i) {
            const int64_t from = i % chunks * chunk;
            parts[static_cast<std::size_t>(i)] =
                output_part(i / chunks, from, std::min(extent, from + chunk));
          }
        },
        1);
    for (int64_t o = 0; o < plan_.outputs(); ++o) {
      A* part = parts.data() + o * chunks;
      merge_pairwise(part, chunks, 1);
      store_(o, part, 1);
    }
  }

  // Elements that lie together and are kept: 1 where the innermost dimension is reduced.
  int64_t width() const { return plan_.inner_reduced() ? 1 : plan_.run(); }
  // Rows of few elements, or rows of few rows of such: a call for each would take longer than to
  // turn several.
  bool are_short() const {
    const int64_t extent = plan_.extent();
    if (extent == 0 || plan_.kept().count() != 1) return false;
    if (plan_.inner_reduced()) return extent < kShortRow && plan_.reduced().count() == 0;
    return width() < kNarrow && extent <= kMostRowsTurned &&
           extent * width() <= (adds_bytes_ ? kMostBytesTurned : kMostTurned) &&
           plan_.reduced().count() == 1;
  }
  // Turned into columns, which fill vectors.
  void short_rows(int64_t first, int64_t n, A* values) const {
    const int64_t length = plan_.extent(), width = this->width(), size = length * width;
    const int64_t batch = kLeaf / size;
    constexpr int64_t kBytesOfOne = sizeof(L);
    std::array<L, kLeaf> buffer, turned;
    if (size == 3 && width == 1 && loops_.rows_of_3 != nullptr) {
      const int64_t at_once = kDirect ? n : batch;
      for (int64_t start = 0; start < n; start += at_once) {
        const int64_t count = std::min(at_once, n - start);
        loops_.rows_of_3(loaded(x_ + (first + start) * size, count * size, buffer.data()), count,
                         values + start);
      }
      return;
    }
    std::fill_n(values, n * width, loops_.identity);
    for (int64_t start = 0; start < n; start += batch) {
      const int64_t count = std::min(batch, n - start), wide = count * width;
      const L* x = loaded(x_ + (first + start) * size, count * size, buffer.data());
      const auto* from = reinterpret_cast<const char*>(x);
      auto* to = reinterpret_cast<char*>(turned.data());
      if (width == 1) {
        turn_(from, to, {length, kBytesOfOne, count * kBytesOfOne},
              {count, length * kBytesOfOne, kBytesOfOne}, kBytesOfOne, false);
      } else {
        pack_pieces(from, size * kBytesOfOne, to, width * kBytesOfOne, count, length);
      }
      loops_.columns(turned.data(), length, wide, values + start * width, wide,
                     about_ == nullptr ? nullptr : about_ + (first + start) * width);
    }
  }

  // Rows of which one call takes several: to begin a row takes as long as to add it, of some 30
  // elements.
  bool rows_follow() const {
    return plan_.kept().count() == 1 && plan_.reduced().count() == 0 && plan_.extent() > 0 &&
           plan_.extent() <= most_at_once();
  }
  void following_rows(int64_t first, int64_t n, A* values) const {
    const int64_t length = plan_.extent(), batch = kDirect ? n : kLeaf / length;
    if constexpr (kBytes) {
      if (adds_bytes_) {
        return sums_of_rows_of_bytes(bytes_at(x_ + first * length), n, length, kMostOfByte, values);
      }
    }
    std::array<L, kLeaf> buffer;
    for (int64_t start = 0; start < n; start += batch) {
      const int64_t row = first + start, count = std::min(batch, n - start);
      loops_.rows(loaded(x_ + row * length, count * length, buffer.data()),
                  {length, 1, next_, count, length}, about_ == nullptr ? nullptr : about_ + row,
                  values + start);
    }
  }

  // Elements of one call of a row loop. A question may be answered by the first few.
  int64_t most_at_once() const {
    if (!kDirect) return kLeaf;
    if (kStreams<L, A> && streams_) return kChunk;
    return loops_.takes_long_rows && question_ == Question::kNone ? kLongLeaf : kDirectLeaf;
  }

  // Elements [from, to) of the extent of one output.
  A output_part(int64_t output, int64_t from, int64_t to) const {
    const T* base = x_ + plan_.kept().offset(output);
    const A parameter = about_ == nullptr ? A(0) : about_[output];
    const int64_t run = plan_.run();
    if constexpr (kBytes) {
      if (adds_bytes_ && to <= run)
        return sum_of_bytes(bytes_at(base + from), to - from, kMostOfByte);
    }
    const int64_t most = most_at_once();
    if (to - from <= most && to <= run) {  // the common small case
      std::array<L, kLeaf> buffer;
      return loops_.row(loaded(base + from, to - from, buffer.data()), {to - from, 1, next_},
                        parameter);
    }
    const ReduceWalk& reduced = plan_.reduced();
    const ReduceDim inner =
        reduced.count() == 0 ? ReduceDim{1, 0} : reduced.dim(reduced.count() - 1);
    Cascade<L, A> cascade(loops_);
    std::array<L, kLeaf> buffer;
    int64_t filled = 0;  // short runs are gathered
    for (int64_t at = from; at < to;) {
      const int64_t row = at / run, within = at % run;
      const T* x = base + reduced.offset(row) + within;
      int64_t n = std::min({run - within, to - at, most});
      if (kDirect && n >= kLeaf / 8) {
        // Whole short runs of one stride are one leaf.
        const int64_t stride = run <= kLeaf ? inner.stride : 0;
        const int64_t runs =
            stride == 0 || n < run
                ? 1
                : std::min({inner.size - row % inner.size, (to - at) / run, kDirectLeaf / run});
        if constexpr (kDirect) {
          const A leaf = loops_.row(x, {n, runs, stride}, parameter);
          if (settled(leaf)) return leaf;
          cascade.push(leaf);
        }
        n *= runs;
      } else {
        if (filled + n > kLeaf) {
          cascade.push(loops_.row(buffer.data(), filled, parameter));
          filled = 0;
        }
        converted(x, buffer.data() + filled, n);
        filled += n;
      }
      at += n;
    }
    if (filled > 0) cascade.push(loops_.row(buffer.data(), filled, parameter));
    return cascade.result();
  }

  // ---- innermost dimension kept ----------------------------------------------------------------

  void run_columns() {
    const int64_t width = plan_.run(), tiles = (width + kTile - 1) / kTile;
    const int64_t units = plan_.kept().positions() * tiles, rows = plan_.extent();
    const int64_t tile = std::min(width, kTile);
    const int64_t chunk = std::max(kRowBlock, kChunk / tile);
    const int64_t chunks =
        units < kEnoughUnits && rows * tile > 2 * kChunk ? (rows + chunk - 1) / chunk : 1;
    // The common case of one chunk needs no memory.
    std::vector<A> parts(chunks == 1 ? 0 : static_cast<std::size_t>(units * chunks * tile));
    const auto columns_of = [&](int64_t unit) {
      return std::min(kTile, width - unit % tiles * kTile);
    };
    const auto first_of = [&](int64_t unit) { return unit / tiles * width + unit % tiles * kTile; };
    parallel_for(
        units * chunks, cost(rows * tile / chunks),
        [&](int64_t first, int64_t last) {
          std::array<A, kTile> local;
          for (int64_t i = first, together = 1; i < last; i += together) {
            const int64_t unit = i / chunks;
            if (chunks > 1) {
              const int64_t from = i % chunks * chunk;
              unit_part(unit / tiles, unit % tiles * kTile, columns_of(unit), from,
                        std::min(rows, from + chunk), parts.data() + i * tile);
              continue;
            }
            // Several narrow ones are stored at once.
            together = tiles == 1 ? std::min(kTile / width, last - i) : 1;
            for (int64_t k = 0; k < together; ++k)
              unit_part((unit + k) / tiles, unit % tiles * kTile, columns_of(unit), 0, rows,
                        local.data() + k * width);
            store_(first_of(unit), local.data(), together * columns_of(unit));
          }
        },
        1);
    if (chunks == 1) return;
    for (int64_t unit = 0; unit < units; ++unit) {
      A* acc = parts.data() + unit * chunks * tile;
      merge_pairwise(acc, chunks, tile);
      store_(first_of(unit), acc, columns_of(unit));
    }
  }

  // Rows [from, to) of columns [column, column + width) at one kept position.
  // (Called from two places, of each type.)
  [[gnu::noinline]] void unit_part(int64_t kept, int64_t column, int64_t width, int64_t from,
                                   int64_t to, A* acc) const {
    const T* base = x_ + plan_.kept().offset(kept) + column;
    const A* parameters = about_ == nullptr ? nullptr : about_ + kept * plan_.run() + column;
    std::fill_n(acc, width, loops_.identity);
    const ReduceWalk& reduced = plan_.reduced();
    const ReduceDim inner =
        reduced.count() == 0 ? ReduceDim{1, 0} : reduced.dim(reduced.count() - 1);
    std::array<A, kTile> block;
    const int64_t most = rows_at_once(width, inner.stride);
    for (int64_t row = from; row < to;) {
      const int64_t n = std::min({inner.size - row % inner.size, to - row, most});
      const T* x = base + reduced.offset(row);
      const bool whole = n == to - from;  // the sums need no block of their own
      A* const sums = whole ? acc : block.data();
      if (!whole) std::fill_n(sums, width, loops_.identity);
      take_rows(x, n, inner.stride, sums, width, parameters);
      if (!whole) loops_.merge(acc, sums, width);
      row += n;
    }
  }

  void take_rows(const T* x, int64_t rows, int64_t stride, A* acc, int64_t width,
                 const A* parameters) const {
    if constexpr (kBytes) {
      if (adds_bytes_) return add_rows_of_bytes(bytes_at(x), rows, stride, kMostOfByte, acc, width);
    }
    if constexpr (kDirect) {
      if (is_narrow(width, stride) && rows >= kFewestRows && !is_low(width, rows))
        return take_narrow(x, rows, acc, width);
      // Out of memory, rows that follow each other are one stream, which the processor fetches
      // ahead better than the eight that a call with all rows makes of them, unless that asks for
      // their lines.
      const bool follow = from_memory_ && stride == width && !loops_.fetches;
      // Without AVX-512 (Zen 3) one stream is too few, and four that lie apart are a quarter of the
      // sums to load and store.
      const int64_t quarter = follow && streams_ ? rows / 4 : 0;
      for (int64_t r = 0; r < quarter; ++r)
        loops_.columns(x + r * stride, 4, quarter * stride, acc, width, parameters);
      // Eight narrow ones lie so close together that they are one stream, too.
      const int64_t batch = follow && stride * int64_t{sizeof(L)} > kNarrowBytes ? 1 : rows;
      for (int64_t r = 4 * quarter; r < rows; r += batch)
        loops_.columns(x + r * stride, batch, stride, acc, width, parameters);
    } else {
      std::array<L, kTile> buffer;
      const int64_t batch = stride == width ? kTile / width : 1;
      for (int64_t r = 0; r < rows; r += batch) {
        const int64_t n = std::min(batch, rows - r);
        converted(x + r * stride, buffer.data(), n * width);
        loops_.columns(buffer.data(), n, width, acc, width, parameters);
      }
    }
  }

  // Rows that follow each other make one wide row, which whole vectors fill: 64 of them do whatever
  // their width. What a wide row costs in the end is shared by the elements of a leaf.
  bool is_narrow(int64_t width, int64_t stride) const {
    return kDirect && width < kNarrow && stride == width && about_ == nullptr;
  }
  // Whether few rows are faster as they are: a wide row would be merged as long as it is added.
  bool is_low(int64_t width, int64_t rows) const {
    return width >= loops_.lanes && rows < kFewWideRows * side_by_side(width, rows);
  }
  static int64_t side_by_side(int64_t width, int64_t rows) {
    int64_t side = 64;
    while (side > rows || side * width > kMostSideBySide) side /= 2;
    return side;
  }
  int64_t rows_at_once(int64_t width, int64_t stride) const {
    if (!is_narrow(width, stride)) return kRowBlock;
    return std::max(kRowBlock, kDirectLeaf / width / 64 * 64);
  }
  void take_narrow(const L* x, int64_t rows, A* acc, int64_t width) const {
    std::array<A, kMostSideBySide> wide;
    int64_t side = side_by_side(width, rows);
    const int64_t wide_rows = rows / side, taken = wide_rows * side;
    std::fill_n(wide.data(), side * width, loops_.identity);
    loops_.columns(x, wide_rows, side * width, wide.data(), side * width, nullptr);
    while ((side /= 2) > 0) loops_.merge(wide.data(), wide.data() + side * width, side * width);
    loops_.merge(acc, wide.data(), width);
    loops_.columns(x + taken * width, rows - taken, width, acc, width, nullptr);
  }

  // ---- both ------------------------------------------------------------------------------------

  // parts[0] becomes the merged value of `count` of them, each of `width` values.
  void merge_pairwise(A* parts, int64_t count, int64_t width) const {
    for (int64_t step = 1; step < count; step *= 2) {
      for (int64_t i = 0; i + step < count; i += 2 * step)
        loops_.merge(parts + i * width, parts + (i + step) * width, width);
    }
  }
  static double cost(int64_t elements) {
    return kDirect ? double(elements) : 2.0 * double(elements);
  }

  const ReduceLoops<L, A>& loops_;
  const Question question_;
  const bool adds_bytes_;
  const bool from_memory_;  // more than the caches hold
  const int64_t next_;      // kRowsFollow, if they do, and out of more than a near cache; else 0
  // Without AVX-512 (Zen 3) one stream of memory is too few; where all elements count.
  const bool streams_ = kDirect && question_ == Question::kNone && simd_level() == 1;
  const StridedKernel turn_ = tile_kernel(sizeof(L));
  const T* x_;
  const ReducePlan& plan_;
  const A* about_;
  const ReduceStore<A>& store_;
};

}  // namespace mxnet::reduce_units
