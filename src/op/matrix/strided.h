// SPDX-License-Identifier: Apache-2.0
// Sums between arrays of any strides: of operands over labels that nothing else has.
#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "op/reducing/reduce_loops.h"
#include "op/run/parallel.h"

namespace mxnet {

// One dimension of a walk over two arrays at once.
struct Walk {
  int64_t count, from, to;
};

// Drops dimensions of one, puts the longest steps outside (as `to` has them, then as `from`, or the
// other way round) and joins those that run through in both.
inline std::vector<Walk> plan_walk(std::vector<Walk> dims, bool as_from) {
  std::erase_if(dims, [](const Walk& d) { return d.count == 1; });
  const auto before = [as_from](const Walk& a, const Walk& b) {
    const bool by_from = a.to == b.to || (as_from && a.from != b.from);
    return by_from ? a.from > b.from : a.to > b.to;
  };
  // Of a few dimensions: std::stable_sort would be more code than this file.
  for (auto d = dims.begin(); d != dims.end(); ++d)
    std::rotate(std::upper_bound(dims.begin(), d, *d, before), d, d + 1);
  std::vector<Walk> joined;
  for (const Walk& d : dims) {
    if (!joined.empty() && joined.back().from == d.from * d.count &&
        joined.back().to == d.to * d.count) {
      joined.back() = {joined.back().count * d.count, d.from, d.to};
    } else {
      joined.push_back(d);
    }
  }
  return joined;
}

// Numbers that follow each other: of fewer a call, and a row of its own, take longer than the sum.
inline constexpr int64_t kShortRow = 16;

// The sum of numbers that follow each other, by the loops of reductions: of floats several dozen
// sums side by side. Integers wrap.
template <class T>
T sum_of_run(const T* x, int64_t n) {
  static_assert(std::is_floating_point_v<T> || sizeof(T) >= sizeof(int32_t));
  using Whole = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
  using Element = std::conditional_t<std::is_floating_point_v<T>, T, Whole>;
  using Sum = std::conditional_t<std::is_floating_point_v<T>, T, int64_t>;
  const auto* run = reinterpret_cast<const Element*>(x);
  return static_cast<T>(reduce_loops<Element, Sum>(Reduction::sum).row(run, n, Sum{0}));
}

template <class T>
void add_row(const T* from, T* to, const Walk& d) {
  if (d.to == 0 && d.from == 1 && d.count >= kShortRow) {
    *to += sum_of_run(from, d.count);
    return;
  }
  if (d.to == 0) {  // one sum, which need not go through memory
    T sum = *to;
    for (int64_t i = 0; i < d.count; ++i) sum += from[i * d.from];
    *to = sum;
    return;
  }
  for (int64_t i = 0; i < d.count; ++i) to[i * d.to] += from[i * d.from];
}

// fn(offset in from, offset in to) for positions [first, last) of `dims` in row-major order. Goes
// from one to the next like the hands of a clock: divisions would take longer than short rows.
template <class F>
void each_row(const std::vector<Walk>& dims, int64_t first, int64_t last, const F& fn) {
  std::vector<int64_t> at(dims.size());
  int64_t from = 0, to = 0, rest = first;
  for (std::size_t i = dims.size(); i-- > 0; rest /= dims[i].count) {
    at[i] = rest % dims[i].count;
    from += at[i] * dims[i].from;
    to += at[i] * dims[i].to;
  }
  for (int64_t row = first; row < last; ++row) {
    fn(from, to);
    for (std::size_t i = dims.size(); i-- > 0;) {
      from += dims[i].from;
      to += dims[i].to;
      if (++at[i] < dims[i].count) break;
      from -= dims[i].count * dims[i].from;
      to -= dims[i].count * dims[i].to;
      at[i] = 0;
    }
  }
}

inline int64_t count_of(const std::vector<Walk>& dims) {
  int64_t count = 1;
  for (const Walk& d : dims) count *= d.count;
  return count;
}

// to += from over all positions of `dims`; dimensions with to == 0 are summed. By itself:
// contractions call it in several places.
template <class T>
[[gnu::noinline]] void add_strided(const std::vector<Walk>& unplanned, const T* from, T* to) {
  // Sums write less than they read, and go along `from`, unless its rows are too short for that.
  std::vector<Walk> dims = plan_walk(unplanned, true);
  if (!dims.empty() && dims.back().count < kShortRow) dims = plan_walk(unplanned, false);
  for (const Walk& d : dims) {
    if (d.count == 0) return;
  }
  if (dims.empty()) return add_row(from, to, Walk{1, 0, 0});
  const Walk inner = dims.back();
  dims.pop_back();
  // In one thread where rows meet in one element.
  const bool apart = std::all_of(dims.begin(), dims.end(), [](const Walk& d) { return d.to > 0; });
  parallel_for(
      count_of(dims), apart ? static_cast<double>(inner.count) : 0.0,
      [&](int64_t first, int64_t last) {
        each_row(dims, first, last, [&](int64_t at_from, int64_t at_to) {
          add_row(from + at_from, to + at_to, inner);
        });
      },
      1);
}

}  // namespace mxnet
