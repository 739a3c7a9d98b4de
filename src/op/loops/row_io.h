// SPDX-License-Identifier: Apache-2.0
// Rows of a tensor as arrays of the type that is computed in: in place where they are that already,
// else converted (half types) or gathered (rows along an axis that is not the last one).
#pragma once
#include <cstdint>
#include <vector>

#include "op/kernel.h"
#include "op/run/parallel.h"

namespace mxnet {

// A tensor cut into rows of `length` elements along one axis. Row r begins at element
// r / inner * length * inner + r % inner and goes on in steps of `inner`.
struct RowLayout {
  int64_t outer = 1, length = 1, inner = 1;

  int64_t rows() const { return outer * inner; }
  int64_t first(int64_t row) const {
    if (inner == 1) return row * length;  // a division takes longer than a short row
    return row / inner * length * inner + row % inner;
  }
};
RowLayout rows_along(const Shape& shape, int axis);
// The first `axes` dimensions count rows, the rest is their length.
RowLayout rows_behind(const Shape& shape, int axes);

// Whether such rows can be used where they lie: C is their type and they are contiguous.
template <class C>
bool lies_ready(const Tensor& tensor, int64_t step);
// Elements [at, at + n * step) of every step-th element, as numbers of C: a pointer into the tensor
// or `buffer`, which then holds them. C is float or double.
template <class C>
const C* read_elements(const Tensor& tensor, int64_t at, int64_t n, int64_t step, C* buffer);
// Where to compute such elements: into the tensor or into `buffer`, from which write_elements takes
// them.
template <class C>
C* place_elements(const Tensor& tensor, int64_t at, int64_t step, C* buffer);
template <class C>
void write_elements(const Tensor& tensor, int64_t at, int64_t n, int64_t step, const C* from);

// Rows that RowReader and RowWriter have at hand: those that lie ready all, short ones that lie one
// after another several, because to convert one is little but a call.
template <class C>
class RowBlock {
 public:
  // For one thread, which takes the rows up to `last` in order.
  RowBlock(const Tensor& tensor, const RowLayout& layout, int64_t last);
  // From `row` on, which is the one at hand: they follow each other.
  int64_t at_hand(int64_t row) const { return end_ - row; }

 protected:
  bool has(int64_t row) const { return row >= begin_ && row < end_; }
  void begin_at(int64_t row);
  int64_t first() const { return layout_.first(begin_); }
  int64_t elements() const { return (end_ - begin_) * layout_.length; }
  int64_t offset(int64_t row) const { return (row - begin_) * layout_.length; }

  const Tensor& tensor_;
  const RowLayout& layout_;
  const int64_t last_;
  int64_t most_, begin_ = 0, end_ = 0;
  std::vector<C> buffer_;
};

template <class C>
class RowReader : RowBlock<C> {
 public:
  using RowBlock<C>::RowBlock;
  using RowBlock<C>::at_hand;
  const C* operator()(int64_t row) {
    if (!this->has(row)) read_from(row);
    return values_ + this->offset(row);
  }

 private:
  void read_from(int64_t row);
  const C* values_ = nullptr;
};

template <class C>
class RowWriter : RowBlock<C> {
 public:
  using RowBlock<C>::RowBlock;
  using RowBlock<C>::at_hand;
  // Where to put `row`; finish() brings it to its place, with the others of its block.
  C* begin(int64_t row) {
    if (!this->has(row)) place_from(row);
    return values_ + this->offset(row);
  }
  void finish(int64_t row) {
    if (row + 1 == this->end_) write();
  }

 private:
  void place_from(int64_t row);
  void write() const;
  C* values_ = nullptr;
};

// fn(row, where it goes, a row of each input) for all rows, shared among threads; `cost` is that of
// an element. The output may be an input.
template <class C, class F, class... In>
void map_rows(const RowLayout& rows, double cost, const Tensor& out, const F& fn, const In&... in) {
  parallel_for(
      rows.rows(), cost * static_cast<double>(rows.length),
      [&](int64_t first, int64_t last) {
        RowWriter<C> write(out, rows, last);
        [&](auto... read) {
          for (int64_t row = first; row < last; ++row) {
            C* to = write.begin(row);
            fn(row, to, read(row)...);
            write.finish(row);
          }
        }(RowReader<C>(in, rows, last)...);
      },
      1);
}

// One number: a statistic, a parameter or (of any numeric type) the label of a row.
double read_element(const Tensor& tensor, int64_t at);
void write_element(const Tensor& tensor, int64_t at, double value);

// fn(float{}) or fn(double{}): what rows of `dtype` are computed in.
template <class F>
decltype(auto) with_row_type(DType dtype, F&& fn) {
  return dtype == DType::kFloat64 ? fn(double{}) : fn(float{});
}

}  // namespace mxnet
