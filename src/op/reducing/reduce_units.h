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

#include "base/repeat_bytes.h"
#include "op/moving/row_copy.h"
#include "op/moving/strided_kernels.h"
#include "op/reducing/loop_calls.h"
#include "op/reducing/reduce_blocks.h"
#include "op/reducing/reduce_engine.h"
#include "op/reducing/row_pairs.h"
#include "op/run/sweep.h"

namespace mxnet::reduce_units {

// T: elements; L: what they are converted to on the way to the loops (T itself where possible).
template <class T, class L, class A>
class Units {
 public:
  Units(Reduction reduction, const T* x, const ReducePlan& plan, const A* about,
        const ReduceStore<A>& store)
      : calls_(reduction, plan.outputs() * plan.extent() * int64_t{sizeof(T)},
               plan.reduced().count() == 0, about != nullptr),
        x_(x),
        plan_(plan),
        selects_(selects(reduction)),
        about_(about),
        store_(store) {}

  void run() {
    if (plan_.outputs() == 0) return;
    if (are_planes()) {
      run_planes();
    } else if (plan_.inner_reduced() || are_short()) {
      run_rows();
    } else {
      run_columns();
    }
  }

 private:
  using Calls = LoopCalls<T, L, A>;
  static constexpr bool kDirect = Calls::kDirect;

  // ---- innermost dimension reduced -------------------------------------------------------------

  void run_rows() {
    const int64_t outputs = plan_.outputs(), extent = plan_.extent();
    if (outputs < kEnoughUnits && extent > 2 * kChunk) return run_divided_rows();
    const bool turned = are_short(), follow = rows_follow(), paired = !turned && are_paired();
    const int64_t width = this->width();
    const int64_t most =
        paired ? paired_rows(outputs, extent * int64_t{sizeof(T)}, kLeaf) : kLeaf / width;
    parallel_sweep(
        outputs / width, kRowCost + Calls::cost(extent * width), bytes_of(extent * width),
        [&](int64_t first, int64_t last) {
          std::array<A, kLeaf> values;
          for (int64_t start = first; start < last; start += most) {
            const int64_t n = std::min(most, last - start);
            if (turned) {
              short_rows(start, n, values.data());
            } else if (follow || paired) {
              calls_.rows(x_ + start * extent, n, extent,
                          about_ == nullptr ? nullptr : about_ + start, values.data());
            } else {
              for (int64_t i = 0; i < n; ++i)
                values[static_cast<std::size_t>(i)] = output_part(start + i, 0, extent);
            }
            store_(start * width, values.data(), n * width);
          }
        },
        paired ? most : 1);
  }

  void run_divided_rows() {
    const bool paired = are_paired();
    const int64_t chunk = paired ? kLongLeaf : calls_.chunk();
    const int64_t extent = plan_.extent(), chunks = (extent + chunk - 1) / chunk;
    const int64_t count = plan_.outputs() * chunks;
    std::vector<A> parts(static_cast<std::size_t>(count));
    const auto part = [&](int64_t i) { return parts.data() + i; };
    const auto begin = [&](int64_t i) { return i % chunks * chunk; };
    const auto end = [&](int64_t i) { return std::min(extent, begin(i) + chunk); };
    const auto take = [&](int64_t i) { *part(i) = output_part(i / chunks, begin(i), end(i)); };
    const Pairs pairs(count, paired ? kPairedParts : 2 * count);
    parallel_sweep(
        paired ? pairs.count() : count, Calls::cost(paired ? 2 * chunk : chunk),
        bytes_of(paired ? 2 * chunk : chunk),
        [&](int64_t first, int64_t last) {
          for (int64_t k = first; k < last; ++k) {
            if (!paired) {
              take(k);
              continue;
            }
            const int64_t one = pairs.first(k), other = pairs.second(k);
            if (other < count && end(one) - begin(one) == end(other) - begin(other)) {
              const T* const x = x_ + plan_.kept().offset(one / chunks) + begin(one);
              const T* const y = x_ + plan_.kept().offset(other / chunks) + begin(other);
              calls_.pair(x, y - x, {end(one) - begin(one)}, part(one), part(other));
            } else {
              take(one);
              if (other < count) take(other);
            }
          }
        },
        1);
    for (int64_t o = 0; o < plan_.outputs(); ++o) {
      merge_pairwise(loops(), part(o * chunks), chunks, 1);
      store_(o, part(o * chunks), 1);
    }
  }

  // Rows that lie between kept ones, as an image's channels do: they are reduced in the order in
  // which they lie, and what is left of them as columns. (Of a few rows, each output is divided.)
  bool are_planes() const {
    return kDirect && calls_.takes_all() && about_ == nullptr && plan_.inner_reduced() &&
           plan_.kept().count() == 1 && plan_.reduced().count() == 1 &&
           plan_.run() >= fewest_in_plane(bytes_of(plan_.outputs() * plan_.extent()),
                                          std::is_same_v<T, double> && selects_) &&
           plan_.kept().dim(0).stride == plan_.run() &&
           plan_.reduced().dim(0).stride == plan_.run() * plan_.outputs() &&
           plan_.reduced().positions() * plan_.outputs() >= kEnoughUnits;
  }
  void run_planes() {
    const int64_t outputs = plan_.outputs(), planes = plan_.reduced().positions();
    const int64_t rows = planes * outputs, length = plan_.run();
    const bool paired = calls_.pairs(length);
    const int64_t block = paired ? paired_rows(rows, length * int64_t{sizeof(T)}, kLeaf) : rows;
    std::vector<A> parts(static_cast<std::size_t>(rows));
    parallel_sweep(
        rows, kRowCost + Calls::cost(length), bytes_of(length),
        [&](int64_t first, int64_t last) {
          for (int64_t row = first; row < last; row += block)
            calls_.rows(x_ + row * length, std::min(block, last - row), length, nullptr,
                        parts.data() + row);
        },
        paired ? block : 1);
    merge_pairwise(loops(), parts.data(), planes, outputs);
    for (int64_t o = 0; o < outputs; o += kMostValues)
      store_(o, parts.data() + o, std::min(kMostValues, outputs - o));
  }

  static int64_t bytes_of(int64_t elements) { return elements * int64_t{sizeof(T)}; }

  // Whether rows are taken two at a time, in blocks of `paired_rows`.
  bool are_paired() const {
    return calls_.pairs(plan_.extent()) && plan_.inner_reduced() && plan_.reduced().count() == 0;
  }

  // Elements that lie together and are kept: 1 where the innermost dimension is reduced.
  int64_t width() const { return plan_.inner_reduced() ? 1 : plan_.run(); }
  // Rows of few elements, or rows of few rows of such: a call for each would take longer than to
  // turn several.
  bool are_short() const {
    const int64_t extent = plan_.extent();
    if (extent == 0 || plan_.kept().count() != 1) return false;
    if (plan_.inner_reduced()) {
      const bool turns =
          calls_.adds_bytes() ? extent < kLeastByteRow : extent < kShortRow || takes_short_rows();
      return turns && plan_.reduced().count() == 0;
    }
    if (planes_follow() && calls_.takes_planes(extent, width())) return false;
    return width() < kNarrow && extent <= kMostRowsTurned &&
           extent * width() <= (calls_.adds_bytes() ? kMostBytesTurned : kMostTurned) &&
           plan_.reduced().count() == 1;
  }
  // Whether rows of one element's width have a loop for their length.
  bool takes_short_rows() const {
    return plan_.extent() >= loops().shortest && plan_.extent() <= loops().longest;
  }
  // Turned into columns, which fill vectors.
  void short_rows(int64_t first, int64_t n, A* values) const {
    const int64_t length = plan_.extent(), width = this->width(), size = length * width;
    const int64_t batch = kLeaf / size;
    constexpr int64_t kBytesOfOne = sizeof(L);
    std::array<L, kLeaf> buffer, turned;
    if (width == 1 && takes_short_rows()) {
      const int64_t at_once = kDirect ? n : batch;
      for (int64_t start = 0; start < n; start += at_once) {
        const int64_t count = std::min(at_once, n - start);
        loops().short_rows(calls_.loaded(x_ + (first + start) * size, count * size, buffer.data()),
                           count, size, values + start);
      }
      return;
    }
    std::fill_n(values, n * width, loops().identity);
    for (int64_t start = 0; start < n; start += batch) {
      const int64_t count = std::min(batch, n - start), wide = count * width;
      const L* x = calls_.loaded(x_ + (first + start) * size, count * size, buffer.data());
      const auto* from = reinterpret_cast<const char*>(x);
      auto* to = reinterpret_cast<char*>(turned.data());
      if (width == 1) {
        turn_(from, to, {length, kBytesOfOne, count * kBytesOfOne},
              {count, length * kBytesOfOne, kBytesOfOne}, kBytesOfOne, false);
      } else {
        pack_pieces(from, size * kBytesOfOne, to, width * kBytesOfOne, count, length);
      }
      loops().columns(turned.data(), length, wide, values + start * width, wide,
                      about_ == nullptr ? nullptr : about_ + (first + start) * width);
    }
  }

  // Rows of which one call takes several: to begin a row takes as long as to add it, of some 30
  // elements.
  bool rows_follow() const {
    return plan_.kept().count() == 1 && plan_.reduced().count() == 0 && plan_.extent() > 0 &&
           plan_.extent() <= calls_.most_at_once();
  }
  // Elements [from, to) of the extent of one output.
  A output_part(int64_t output, int64_t from, int64_t to) const {
    const T* base = x_ + plan_.kept().offset(output);
    const A parameter = about_ == nullptr ? A(0) : about_[output];
    const int64_t run = plan_.run(), most = calls_.most_at_once();
    if (to <= run && (to - from <= most || calls_.adds_bytes()))  // the common small case
      return calls_.short_row(base + from, to - from, parameter);
    const ReduceWalk& reduced = plan_.reduced();
    const ReduceDim inner =
        reduced.count() == 0 ? ReduceDim{1, 0} : reduced.dim(reduced.count() - 1);
    Cascade<L, A> cascade(loops());
    std::array<L, kLeaf> buffer;
    int64_t filled = 0;  // short runs are gathered
    for (int64_t at = from; at < to;) {
      const int64_t row = at / run, within = at % run;
      const T* x = base + reduced.offset(row) + within;
      int64_t n = std::min({run - within, to - at, most});
      if (kDirect && n >= (loops().takes_short_runs ? kFewestOfShortRun : kFewestInPlane)) {
        // Whole short runs of one stride are one leaf.
        const int64_t stride = run <= kLeaf ? inner.stride : 0;
        const int64_t runs =
            stride == 0 || n < run
                ? 1
                : std::min({inner.size - row % inner.size, (to - at) / run, kDirectLeaf / run});
        if constexpr (kDirect) {
          const A leaf = loops().row(x, {n, runs, stride}, parameter);
          if (calls_.settled(leaf)) return leaf;
          cascade.push(leaf);
        }
        n *= runs;
      } else {
        if (filled + n > kLeaf) {
          cascade.push(loops().row(buffer.data(), filled, parameter));
          filled = 0;
        }
        // Whole short runs of one stride are brought together by one call.
        const int64_t runs = n < run ? 1
                                     : std::min({inner.size - row % inner.size, (to - at) / run,
                                                 (kLeaf - filled) / run});
        gather_runs(x, n, runs, inner.stride, buffer.data() + filled);
        n *= runs;
        filled += n;
      }
      at += n;
    }
    if (filled > 0) cascade.push(loops().row(buffer.data(), filled, parameter));
    return cascade.result();
  }

  static void gather_runs(const T* x, int64_t n, int64_t runs, int64_t stride, L* to) {
    if (runs == 1) return Calls::converted(x, to, n);
    if constexpr (kDirect) {
      bring_together(x, n, runs, stride, to);
    } else {
      std::array<T, kLeaf> raw;
      bring_together(x, n, runs, stride, raw.data());
      Calls::converted(raw.data(), to, n * runs);
    }
  }
  static void bring_together(const T* x, int64_t n, int64_t runs, int64_t stride, T* to) {
    constexpr int64_t kLeastRow = 16;  // bytes, of copy_rows
    const auto* const from = reinterpret_cast<const char*>(x);
    auto* const bytes = reinterpret_cast<char*>(to);
    if (bytes_of(n) >= kLeastRow)
      return copy_rows(from, bytes_of(stride), bytes, bytes_of(n), bytes_of(n), runs);
    pack_pieces(from, bytes_of(stride), bytes, bytes_of(n), runs - 1, 1);
    std::copy_n(x + (runs - 1) * stride, n, to + (runs - 1) * n);  // behind which nothing is read
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
    parallel_sweep(
        units * chunks, Calls::cost(rows * tile / chunks), bytes_of(rows * tile / chunks),
        [&](int64_t first, int64_t last) {
          std::array<A, kTile + kWrittenOver> local;
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
            if (!planes_follow() ||
                !calls_.planes(x_ + unit * rows * width, rows, width, together, local.data())) {
              for (int64_t k = 0; k < together; ++k)
                unit_part((unit + k) / tiles, unit % tiles * kTile, columns_of(unit), 0, rows,
                          local.data() + k * width);
            }
            store_(first_of(unit), local.data(), together * columns_of(unit));
          }
        },
        1);
    if (chunks == 1) return;
    for (int64_t unit = 0; unit < units; ++unit) {
      A* acc = parts.data() + unit * chunks * tile;
      merge_pairwise(loops(), acc, chunks, tile);
      store_(first_of(unit), acc, columns_of(unit));
    }
  }

  // Kept positions of a few columns each, of which one call may take several.
  bool planes_follow() const {
    return plan_.kept().count() == 1 && plan_.reduced().count() == 1 &&
           plan_.reduced().dim(0).stride == plan_.run() &&
           plan_.kept().dim(0).stride == plan_.extent() * plan_.run();
  }

  // Rows [from, to) of columns [column, column + width) at one kept position.
  // (Called from two places, of each type.)
  [[gnu::noinline]] void unit_part(int64_t kept, int64_t column, int64_t width, int64_t from,
                                   int64_t to, A* acc) const {
    const T* base = x_ + plan_.kept().offset(kept) + column;
    const A* parameters = about_ == nullptr ? nullptr : about_ + kept * plan_.run() + column;
    fill_identity(acc, width);
    const ReduceWalk& reduced = plan_.reduced();
    const ReduceDim inner =
        reduced.count() == 0 ? ReduceDim{1, 0} : reduced.dim(reduced.count() - 1);
    std::array<A, kTile> block;
    const int64_t most = calls_.rows_at_once(width, inner.stride);
    for (int64_t row = from; row < to;) {
      const int64_t n = std::min({inner.size - row % inner.size, to - row, most});
      const T* x = base + reduced.offset(row);
      const bool whole = n == to - from;  // the sums need no block of their own
      A* const sums = whole ? acc : block.data();
      if (!whole) fill_identity(sums, width);
      calls_.columns(x, n, inner.stride, sums, width, parameters);
      if (!whole) loops().merge(acc, sums, width);
      row += n;
    }
  }

  void fill_identity(A* to, int64_t n) const {
    constexpr int64_t kFirst = kPatternBytes / sizeof(A);
    const int64_t bytes = n * int64_t{sizeof(A)};
    std::fill_n(to, bytes < kLongPattern ? n : kFirst, loops().identity);
    if (bytes >= kLongPattern) repeat_bytes(reinterpret_cast<char*>(to), bytes);
  }

  const ReduceLoops<L, A>& loops() const { return calls_.loops(); }

  const Calls calls_;
  const StridedKernel turn_ = tile_kernel(sizeof(L));
  const T* x_;
  const ReducePlan& plan_;
  const bool selects_;
  const A* about_;
  const ReduceStore<A>& store_;
};

}  // namespace mxnet::reduce_units
