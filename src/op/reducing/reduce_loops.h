// SPDX-License-Identifier: Apache-2.0
// The innermost loops of reductions, compiled for each instruction set. Adding a reduction is
// adding a row.
#pragma once
#include <cstdint>

namespace mxnet {

// Columns: name; the value of nothing; what an element x contributes (c is the output's own
// parameter); how two values a and b merge. All in the type A of the accumulator, V is A or a
// vector of A. A row is correct for any order and grouping of the elements.
// clang-format off
#define MX_REDUCTIONS(ROW) \
  ROW(sum,               A(0),         x,                                  add(a, b)) \
  ROW(prod,              A(1),         x,                                  multiply(a, b)) \
  ROW(max,               lowest<A>(),  x,                                  larger_one(a, b)) \
  ROW(min,               highest<A>(), x,                                  smaller_one(a, b)) \
  ROW(nansum,            A(0),         x != x ? V{} : x,                   add(a, b)) \
  ROW(nanprod,           A(1),         x != x ? V{} + A(1) : x,            multiply(a, b)) \
  ROW(sum_abs,           A(0),         x < V{} ? subtract(V{}, x) : x,     add(a, b)) \
  ROW(sum_squares,       A(0),         multiply(x, x),                     add(a, b)) \
  ROW(sum_squares_about, A(0),         multiply(subtract(x, c), subtract(x, c)), add(a, b)) \
  ROW(any,               A(0),         x != V{} ? V{} + A(1) : V{},        a > b ? a : b) \
  ROW(all,               A(1),         x != V{} ? V{} + A(1) : V{},        a < b ? a : b) \
  ROW(count_nonzero,     A(0),         x != V{} ? V{} + A(1) : V{},        add(a, b))
// clang-format on

enum class Reduction : int {
#define MX_REDUCTION_ID(name, ...) name,
  MX_REDUCTIONS(MX_REDUCTION_ID)
#undef MX_REDUCTION_ID
};

// Whether an element is the answer, and whether the answer is yes or no.
constexpr bool selects(Reduction r) { return r == Reduction::max || r == Reduction::min; }
constexpr bool asks(Reduction r) { return r == Reduction::any || r == Reduction::all; }

inline constexpr int64_t kRowsFollow = -1;

// What outputs are made of: each of `count` times `length` contiguous elements, which begin
// `stride` apart, and the next one's `step` behind. What follows in the next run is fetched
// meanwhile (stride 0, for one run: nothing; kRowsFollow, with AVX-512 alone: what lies behind it,
// where that is any faster).
struct RowRuns {
  int64_t length, count = 1, stride = 0;
  int64_t outputs = 1, step = 0;
};

// Vectors of columns that a loop takes up together.
inline constexpr int64_t kVectorsAtOnce = 8;

// L: type of the elements; A: type of the accumulator.
template <class L, class A>
struct ReduceLoops {
  A identity;
  // Columns ask for the lines of the next rows, whatever their width and stride.
  bool fetches;
  // A row's error does not grow with its length.
  bool takes_long_rows;
  // Runs that lie apart are taken up where they lie though they are of some vectors alone, whose
  // ends take no time.
  bool takes_short_runs;
  // Columns that are taken up together; of fewer each is by itself. Where what is left of them is,
  // too: more than there are. (This and the lengths below are of few bytes: code fills the tables.)
  int32_t lanes;
  // values[i] of output i, whose parameter is c[i]; `c` may be null as below.
  void rows(const L* x, const RowRuns& runs, const A* c, A* values) const;
  A row(const L* x, const RowRuns& runs, A c) const {
    A value;
    rows(x, runs, &c, &value);
    return value;
  }
  A row(const L* x, int64_t n, A c) const { return row(x, RowRuns{n}, c); }
  // acc[j] takes up x[r * stride + j] for all r < rows, j < width. `c` may be null where the
  // reduction has no parameter.
  void (*columns)(const L* x, int64_t rows, int64_t stride, A* acc, int64_t width,
                  const A* c) = nullptr;
  void (*merge)(A* acc, const A* other, int64_t n) = nullptr;
  // What `rows` calls: the one for reductions without parameters that are asked for most, or the
  // other one.
  void (*many_rows)(const L* x, const RowRuns& runs, A* values) = nullptr;
  A (*one_row)(const L* x, int64_t n, int64_t runs, int64_t stride, A c) = nullptr;
  // values[i] of row i, and others[i] of one that lies `apart` elements behind it: rows alone, not
  // several runs; null where one at a time is as fast.
  void (*row_pairs)(const L* x, int64_t apart, const RowRuns& runs, A* values, A* others) = nullptr;
  // values[i] of row i, where rows of so few elements follow each other; of other lengths to turn
  // them is all there is.
  void (*short_rows)(const L* x, int64_t rows, int64_t length, A* values) = nullptr;
  // Several planes of `rows` rows of `width` elements, which follow each other: values[p * width +
  // j] of column j of plane p; room for a vector behind their values is written over. From
  // `narrowest` to `widest` columns; null where one at a time is as fast.
  void (*planes)(const L* x, int64_t rows, int64_t width, int64_t planes, A* values) = nullptr;
  int16_t narrowest = 0, widest = 0;
  int16_t shortest = 0, longest = 0;  // of short_rows
};

// Sums of so little work that one stream of memory is what they wait for, without AVX-512 (Zen 3):
// runs from so many elements on are read as four.
template <class L, class A>
inline constexpr bool kStreams = sizeof(L) == 4 && sizeof(A) == 8;
inline constexpr int64_t kStreamedRun = int64_t{1} << 14;

// (float, float), (float16, float), (float, double), (double, double), (int32_t, int64_t),
// (int64_t, int64_t); sum alone of (bfloat16, float); max and min alone of (uint8_t, uint8_t),
// (int8_t, int8_t) and (int32_t, int32_t), whose lanes are as narrow as the elements;
// sum_squares_about and count_nonzero in double alone.
template <class L, class A>
const ReduceLoops<L, A>& reduce_loops(Reduction reduction);

}  // namespace mxnet
