// SPDX-License-Identifier: Apache-2.0
// The rows of an axis, each ordered by itself: their values, or the positions of their best
// elements. A row alone is divided by its sort, several are shared among threads.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>

#include "op/kernel.h"
#include "op/moving/strided_kernels.h"
#include "op/run/element_size.h"
#include "op/run/parallel.h"
#include "op/sorting/key_loops.h"
#include "op/sorting/side_by_side.h"
#include "op/sorting/sorted_positions.h"
#include "op/sorting/vector_sort.h"

namespace mxnet {

// The array as outer x n x inner, of which n is ordered and k elements are taken.
struct AxisRows {
  int64_t outer = 1, n = 1, inner = 1, k = 1;
  bool ascending = true;
};

// The positions of the best elements of neighbouring rows, in order: those of row j at `at` + j *
// pitch. The first row starts at element `from` of the array and the elements taken from it at
// element `to`; they step by rows.inner. The next row starts one element further, or, without an
// inner axis, n elements in the array and k where they are taken to.
struct TakenPositions {
  int64_t from, to, width;
  const uint32_t* at;
  int64_t pitch;
};
// Called from several threads.
using VisitPositions = std::function<void(const TakenPositions&)>;

// For one call of a kernel, on whose thread it is made and asked; it shares its rows among threads.
template <class T>
class RowOrder {
  using K = SortKey<T>;

 public:
  RowOrder(const AxisRows& rows, const T* x, const KernelContext& context)
      : rows_(rows),
        x_(x),
        context_(context),
        together_(rows.inner > 1        ? std::min(rows.inner, kTogether)
                  : rows.n <= kShortRow ? std::min(rows.outer, kTogether)
                                        : 1),
        flip_(rows.ascending ? K{0} : static_cast<K>(~K{0})) {}

  // Rows of an inner axis are visited together, so that what is written of them by position is a
  // line of each at a time; short ones, so that a visit is worth its call.
  void positions(const VisitPositions& visit) const {
    // Short rows of short keys are mostly sorted sooner than selected from, and those of long keys
    // where vectors sort: to select is to guess what comes next.
    const int64_t sorted_up_to = sizeof(T) <= 2                         ? kShortRow
                                 : sizeof(T) == 8 && sorts_by_vectors() ? kShortLongKeys
                                                                        : 0;
    const bool sorts = rows_.k > (sizeof(T) == 8 ? 2 : 1) && rows_.n <= sorted_up_to &&
                       !selects_soon<T>(rows_.n, rows_.k);
    const bool few = rows_.k <= rows_.n / 4 && !sorts;
    const int64_t room = few ? selection_room(rows_.k) : positions_room<K>(rows_.n);
    const auto order_row = [&](const T* row, Keyed<K>* keys) {
      if (!few) return sorted_positions(row, rows_.n, flip_, keys);
      select_keyed(row, rows_.n, rows_.k, flip_, keys);
      return packed_positions(keys);
    };
    // The best one alone is found sooner, unless it is one of very few.
    const bool side_by_side =
        rows_.n <= (few && rows_.k == 1 && sizeof(T) == 8 ? kFewToRank : kSideBySide);
    // A line more than a row: rows a power of two apart share few places in the first-level cache.
    const int64_t pitch = rows_.k + 16;
    const int64_t kept = together_ > 1 ? together_ * pitch : 0;
    constexpr auto kItem = static_cast<int64_t>(sizeof(Keyed<K>) / sizeof(uint32_t));
    const int64_t all = room + (kept + kItem - 1) / kItem;
    each_group<Keyed<K>>(all, [&](const T* rows, int64_t width, int64_t from, Keyed<K>* keys) {
      const int64_t o = from / (rows_.n * rows_.inner);
      const int64_t to = from - o * (rows_.n - rows_.k) * rows_.inner;
      if (together_ == 1) return visit({from, to, 1, order_row(rows, keys), 0});
      auto* const several = reinterpret_cast<uint32_t*>(keys + room);
      if (!side_by_side || !positions_side_by_side(rows, rows_.n, width, flip_, several, pitch)) {
        for (int64_t j = 0; j < width; ++j)
          std::copy_n(order_row(rows + j * rows_.n, keys), rows_.k, several + j * pitch);
      }
      visit({from, to, width, several, pitch});
    });
  }

  // Writes all values in order; positions are not asked for.
  void values(T* out) const {
    const int64_t n = rows_.n, inner = rows_.inner;
    const bool side_by_side = together_ > 1 && is_sorted_side_by_side<T>(n);
    each_group<K>(n, [&](const T* rows, int64_t width, int64_t from, K* spare) {
      T* const sorted = inner == 1 ? out + from : const_cast<T*>(rows);  // brought together
      if (!side_by_side || !sort_side_by_side(rows, n, width, flip_, sorted)) {
        for (int64_t j = 0; j < width; ++j)
          sort_values(rows + j * n, sorted + j * n, spare, n, flip_);
      }
      if (inner > 1) spread(rows, out + from, width);
    });
  }

 private:
  static constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
  // Neighbouring rows that are visited together: of an inner axis a cache line of float32.
  static constexpr int64_t kTogether = kSideBySide;
  // Rows without an inner axis that are visited together have up to so many elements.
  static constexpr int64_t kShortRow = 256;
  // Those whose keys of 64 bits are sorted to select some of them: registers hold them all.
  static constexpr int64_t kShortLongKeys = 128;
  static constexpr int64_t kFewToRank = 12;
  // Elementary operations that an element costs, for the decision about threads.
  static constexpr double kSortCost = 20.0;

  // Moves them into the front of the keys: a position is never wider than its item.
  const uint32_t* packed_positions(Keyed<K>* keys) const {
    auto* const at = reinterpret_cast<uint32_t*>(keys);
    for (int64_t i = 0; i < rows_.k; ++i) {
      const uint32_t position = keys[i].at;
      std::memcpy(at + i, &position, sizeof(position));
    }
    return at;
  }

  // The `width` rows of an inner axis that begin at x_[from], each by itself.
  void gather(int64_t from, int64_t width, T* rows) const {
    tile_kernel(kBytes)(reinterpret_cast<const char*>(x_ + from), reinterpret_cast<char*>(rows),
                        {width, kBytes, rows_.n * kBytes}, {rows_.n, rows_.inner * kBytes, kBytes},
                        kBytes, false);
  }

  // The reverse. Few enough elements of each row at a time for their lines to be written once.
  void spread(const T* rows, T* out, int64_t width) const {
    constexpr int64_t kBlock = 64;
    for (int64_t i = 0; i < rows_.n; i += kBlock) {
      tile_kernel(kBytes)(reinterpret_cast<const char*>(rows + i),
                          reinterpret_cast<char*>(out + i * rows_.inner),
                          {std::min(kBlock, rows_.n - i), kBytes, rows_.inner * kBytes},
                          {width, rows_.n * kBytes, kBytes}, kBytes, false);
    }
  }

  // fn(rows, width, from, scratch of `room` items): neighbouring rows, one behind the other, the
  // first of which begins at x_[from]. Those of an inner axis have been brought together in memory
  // that is the caller's to write; others lie where they are.
  template <class Item, class F>
  void each_group(int64_t room, const F& fn) const {
    const AxisRows& r = rows_;
    const bool inner = r.inner > 1;
    // Of the rows side by side, of which there are r.outer or, without an inner axis, one.
    const int64_t side_by_side = inner ? r.inner : r.outer;
    const int64_t groups = (side_by_side + together_ - 1) / together_;
    const double cost = kSortCost * static_cast<double>(r.n * together_);
    const int64_t gathered_size = inner ? together_ * r.n : 0;
    const int64_t units = inner ? r.outer * groups : groups;
    const int64_t parts = std::min<int64_t>(threads_for(units, cost), units);
    Item* const scratches = context_.workspace_of<Item>(parts * room);
    T* const gathereds = context_.workspace_of<T>(parts * gathered_size + 1);
    std::atomic<int> started = 0;
    const auto run = [&](int64_t first, int64_t last) {
      // Each part has its own; which one does not matter.
      const int part = started.fetch_add(1, std::memory_order_relaxed);
      Item* const scratch = scratches + part * room;
      T* const gathered = gathereds + part * gathered_size;
      for (int64_t unit = first; unit < last; ++unit) {
        const int64_t row = unit % groups * together_;
        const int64_t width = std::min(together_, side_by_side - row);
        const int64_t from = inner ? unit / groups * r.n * r.inner + row : row * r.n;
        if (inner) gather(from, width, gathered);
        fn(inner ? gathered : x_ + from, width, from, scratch);
      }
    };
    // A row alone is divided by its sort.
    if (units == 1) return run(0, 1);
    parallel_for(units, cost, run, 1);
  }

  const AxisRows rows_;
  const T* x_;
  const KernelContext& context_;
  const int64_t together_;  // rows that are visited together
  const K flip_;
};

}  // namespace mxnet
