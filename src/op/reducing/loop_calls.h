// SPDX-License-Identifier: Apache-2.0
// The loops of a reduction, called on elements that lie together: rows of any length, one by one or
// two at a time, and rows of columns. Elements of other types are converted on the way.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include "base/processor_facts.h"
#include "base/simd.h"
#include "base/stream_copy.h"
#include "op/loops/convert.h"
#include "op/reducing/byte_sums.h"
#include "op/reducing/reduce_blocks.h"
#include "op/reducing/row_pairs.h"

namespace mxnet::reduce_units {

// T: elements; L: what they are converted to on the way to the loops (T itself where possible).
template <class T, class L, class A>
class LoopCalls {
 public:
  static constexpr bool kDirect = std::is_same_v<T, L>;
  static constexpr bool kBytes = sizeof(T) == 1 && std::is_same_v<A, int64_t>;

  // Which loops can take two rows at a time.
  static constexpr bool kPairs = kDirect && std::is_same_v<L, float> && std::is_same_v<A, double>;

  // `bytes` is what is read in all; `rows_follow`: in the order in which it lies; `parameters`:
  // whether outputs have some of their own.
  LoopCalls(Reduction reduction, int64_t bytes, bool rows_follow, bool parameters)
      : loops_(reduce_loops<L, A>(kNarrowLanes ? selection(reduction) : reduction)),
        question_(reduction == Reduction::any   ? Question::kAny
                  : reduction == Reduction::all ? Question::kAll
                                                : Question::kNone),
        adds_(reduction == Reduction::sum),
        adds_bytes_(kBytes && adds_),
        parameters_(parameters),
        narrow_(adds_ ? kNarrow
                      : std::clamp(kVectorsAtOnce * std::min(loops_.lanes, kMostLanes), kNarrow,
                                   kLessNarrow)),
        from_memory_(bytes >= kPastCaches),
        next_(kDirect && simd_level_for_traffic() == 2 && rows_follow && bytes > kNearCache
                  ? kRowsFollow
                  : 0) {}

  const ReduceLoops<L, A>& loops() const { return loops_; }
  bool adds_bytes() const { return adds_bytes_; }
  // Whether no element can end the reduction before the last one.
  bool takes_all() const { return question_ == Question::kNone; }
  bool settled(A value) const {
    return (question_ == Question::kAny && value != A(0)) ||
           (question_ == Question::kAll && value == A(0));
  }
  static double cost(int64_t elements) {
    return kDirect ? double(elements) : 2.0 * double(elements);
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
  static void converted(const T* x, L* to, int64_t n) {
    if constexpr (std::is_same_v<T, bool>) {
      truths(bytes_at(x), to, n);
    } else {
      convert_array(x, to, n);
    }
  }

  // ---- rows ------------------------------------------------------------------------------------

  // Elements of one call of a row loop. A question may be answered by the first few.
  int64_t most_at_once() const {
    if (!kDirect) return kLeaf;
    if (four_streams()) return kChunk;
    // (In registers of four floats a long run would be few sums of many each.)
    if (std::is_same_v<A, float> && simd_level() == 0) return kLeaf;
    if (!loops_.takes_long_rows || !takes_all()) return kDirectLeaf;
    return kPairs && pairs_ ? kLongLeaf : kChunk / 2;
  }
  // Elements of a row that a thread takes at least.
  int64_t chunk() const {
    return kPairs && pairs_ ? kLongLeaf : four_streams() ? kChunk : kChunk / 2;
  }
  // Whether rows of that length are taken two at a time. (Of several, given in blocks of an even
  // number: who is whose partner must not depend on the threads.)
  bool pairs(int64_t length) const { return kPairs && pairs_ && length >= kPairedRow; }

  // Row i, of n that follow each other, reduces to values[i] and has the parameter about[i];
  // `about` may be null. REQUIRES: rows longer than most_at_once() have no parameters, and L is T.
  // (Not inlined: each type calls it from two places.)
  [[gnu::noinline]] void rows(const T* x, int64_t n, int64_t length, const A* about,
                              A* values) const {
    if (pairs(length) && n > 1) {
      const int64_t half = n / 2, apart = half * length;
      if (length <= kLongLeaf) {
        pair(x, apart, {length, 1, 0, half, length}, values, values + half);
      } else {
        for (int64_t row = 0; row < half; ++row)
          long_pair(x + row * length, apart, length, values + row, values + half + row);
      }
      if (n % 2 != 0) rows(x + 2 * apart, 1, length, nullptr, values + 2 * half);
    } else if (!kDirect || length <= most_at_once()) {
      short_rows(x, n, length, about, values);
    } else {
      for (int64_t row = 0; row < n; ++row) values[row] = long_row(x + row * length, length);
    }
  }
  // What one row reduces to, in one call of a loop: n <= most_at_once(), but where bytes are added.
  A short_row(const T* x, int64_t n, A about) const {
    if constexpr (kBytes) {
      if (adds_bytes_) return sum_of_bytes(bytes_at(x), n, kByteKind);
    }
    std::array<L, kLeaf> buffer;
    return loops_.row(loaded(x, n, buffer.data()), {n, 1, next_}, about);
  }
  // Two rows that lie apart.
  void pair(const T* x, int64_t apart, const RowRuns& rows, A* values, A* others) const {
    if constexpr (kPairs) loops_.row_pairs(x, apart, rows, values, others);
  }

  // ---- columns ---------------------------------------------------------------------------------

  // acc[j] takes up x[r * stride + j] for all r < rows, j < width.
  void columns(const T* x, int64_t rows, int64_t stride, A* acc, int64_t width,
               const A* parameters) const {
    if constexpr (kBytes) {
      const bool few =
          std::is_same_v<T, int8_t> && width < kLeastByteRow && rows * width < kFewBytes;
      if (adds_bytes_ && !few)
        return add_rows_of_bytes(bytes_at(x), rows, stride, kByteKind, acc, width);
    }
    if constexpr (kDirect) {
      if (is_narrow(width, stride) && is_high(width, rows)) return take_narrow(x, rows, acc, width);
      // Out of memory, rows that follow each other are one stream, which the processor fetches
      // ahead better than the eight that a call with all rows makes of them, unless that asks for
      // their lines.
      const bool follow = from_memory_ && stride == width && !loops_.fetches;
      // Where one stream is too few, each of several that lie apart saves sums to load and store.
      const int64_t part = follow && streams_ > 1 ? rows / streams_ : 0;
      for (int64_t r = 0; r < part; ++r)
        loops_.columns(x + r * stride, streams_, part * stride, acc, width, parameters);
      // Eight narrow ones lie so close together that they are one stream, too.
      const int64_t batch = follow && stride * int64_t{sizeof(L)} > kNarrowBytes ? 1 : rows;
      for (int64_t r = streams_ * part; r < rows; r += batch)
        loops_.columns(x + r * stride, std::min(batch, rows - r), stride, acc, width, parameters);
    } else {
      std::array<L, kDirectLeaf> buffer;
      const bool narrow = is_narrow(width, stride);
      const int64_t batch = narrow ? kDirectLeaf / width : stride == width ? kTile / width : 1;
      for (int64_t r = 0; r < rows; r += batch) {
        const int64_t n = std::min(batch, rows - r);
        converted(x + r * stride, buffer.data(), n * width);
        if (narrow && is_high(width, n))
          take_narrow(buffer.data(), n, acc, width);
        else
          loops_.columns(buffer.data(), n, width, acc, width, parameters);
      }
    }
  }

  // Whether several planes, which follow each other, are taken at once.
  bool takes_planes(int64_t rows, int64_t width) const {
    return kDirect && loops_.planes != nullptr && !parameters_ && width >= loops_.narrowest &&
           width <= loops_.widest && rows > 0 && rows <= kRowBlock;
  }
  // Their sums, column by column one row after the other; false, and nothing done, where that is
  // not faster than columns() for each.
  bool planes(const T* x, int64_t rows, int64_t width, int64_t count, A* values) const {
    if constexpr (kDirect) {
      if (takes_planes(rows, width)) {
        loops_.planes(x, rows, width, count, values);
        return true;
      }
    }
    return false;
  }

  // Rows that columns of that width take up before they merge.
  int64_t rows_at_once(int64_t width, int64_t stride) const {
    if (!is_narrow(width, stride)) return kRowBlock;
    return std::max(kRowBlock, kLongLeaf / width / 64 * 64);
  }

 private:
  static constexpr int32_t kMostLanes = 64 / sizeof(A);  // of the widest vectors
  // Whether there is anything, and whether all is, the greatest and the least unsigned number say.
  static constexpr bool kNarrowLanes = std::is_integral_v<A> && sizeof(A) < 8;
  static constexpr Reduction selection(Reduction reduction) {
    return reduction == Reduction::any   ? Reduction::max
           : reduction == Reduction::all ? Reduction::min
                                         : reduction;
  }
  enum class Question : uint8_t { kNone, kAny, kAll };

  static constexpr ByteKind kByteKind = std::is_same_v<T, bool>     ? ByteKind::kTruth
                                        : std::is_same_v<T, int8_t> ? ByteKind::kSigned
                                                                    : ByteKind::kUnsigned;
  static const uint8_t* bytes_at(const T* x) { return reinterpret_cast<const uint8_t*>(x); }
  [[gnu::noinline]] static void truths(const uint8_t* x, L* to, int64_t n) {
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<L>(x[i] != 0);
  }
  bool four_streams() const { return kStreams<L, A> && streams_ == 4; }

  void short_rows(const T* x, int64_t n, int64_t length, const A* about, A* values) const {
    if constexpr (kBytes) {
      if (adds_bytes_) return sums_of_rows_of_bytes(bytes_at(x), n, length, kByteKind, values);
    }
    std::array<L, kLeaf> buffer;
    const int64_t batch = kDirect ? n : kLeaf / length;
    for (int64_t start = 0; start < n; start += batch) {
      const int64_t count = std::min(batch, n - start);
      loops_.rows(loaded(x + start * length, count * length, buffer.data()),
                  {length, 1, next_, count, length}, about == nullptr ? nullptr : about + start,
                  values + start);
    }
  }
  A long_row(const T* x, int64_t length) const {
    Cascade<L, A> cascade(loops_);
    const int64_t most = most_at_once();
    for (int64_t at = 0; at < length; at += most)
      if constexpr (kDirect) cascade.push(loops_.row(x + at, std::min(most, length - at), A(0)));
    return cascade.result();
  }
  void long_pair(const T* x, int64_t apart, int64_t length, A* value, A* other) const {
    Cascade<L, A> one(loops_), two(loops_);
    for (int64_t at = 0; at < length; at += kLongLeaf) {
      pair(x + at, apart, {std::min(kLongLeaf, length - at)}, value, other);
      one.push(*value);
      two.push(*other);
    }
    *value = one.result();
    *other = two.result();
  }

  // Rows that follow each other make one wide row, which whole vectors fill: 64 of them do whatever
  // their width. What a wide row costs in the end is shared by the elements of a leaf.
  bool is_narrow(int64_t width, int64_t stride) const {
    return width < narrow_ && stride == width && !parameters_;
  }
  // Whether there are enough of them.
  bool is_high(int64_t width, int64_t rows) const {
    return rows >= kFewestRows && !is_low(width, rows);
  }
  // Whether few rows are faster as they are: a wide row would be merged as long as it is added.
  // (One column's extremes wait for each other longer than its sums.)
  bool is_low(int64_t width, int64_t rows) const {
    return width >= loops_.lanes &&
           rows < (adds_ ? kFewWideRows * most_side_by_side(width, rows) : kMostRowsTurned);
  }
  static int64_t most_side_by_side(int64_t width, int64_t rows) {
    int64_t side = 64;
    while (side > rows || side * width > kMostSideBySide) side /= 2;
    return side;
  }
  static int64_t side_by_side(int64_t width, int64_t rows) {
    int64_t side = most_side_by_side(width, rows);
    while (side * width * int64_t{sizeof(A)} > kWideBytes && rows < kFewWideRows * side) side /= 2;
    return side;
  }
  [[gnu::noinline]] void take_narrow(const L* x, int64_t rows, A* acc, int64_t width) const {
    std::array<A, kMostSideBySide> wide;
    int64_t side = side_by_side(width, rows);
    const int64_t wide_rows = rows / side;
    std::fill_n(wide.data(), side * width, loops_.identity);
    loops_.columns(x, wide_rows, side * width, wide.data(), side * width, nullptr);
    // What is left is taken up on the way down, by rows as wide as what has been merged.
    int64_t taken = wide_rows * side;
    while ((side /= 2) > 0) {
      loops_.merge(wide.data(), wide.data() + side * width, side * width);
      if (rows - taken < side) continue;
      loops_.columns(x + taken * width, 1, side * width, wide.data(), side * width, nullptr);
      taken += side;
    }
    loops_.merge(acc, wide.data(), width);
  }

  const ReduceLoops<L, A>& loops_;
  const Question question_;
  const bool adds_, adds_bytes_;
  const bool parameters_;
  const int64_t narrow_;    // fewer columns than that are
  const bool from_memory_;  // more than the caches hold
  const int64_t next_;      // kRowsFollow, if they do, and out of more than a near cache; else 0
  // Streams of memory that are read at once, where all elements count.
  const int64_t streams_ = kDirect && takes_all() ? processor_facts().streams_of_sums : 1;
  // Two rows at a time: with conversions of 256 bits the loops are faster than one stream.
  const bool pairs_ = streams_ == 2 && loops_.row_pairs != nullptr && !parameters_;
};

}  // namespace mxnet::reduce_units
