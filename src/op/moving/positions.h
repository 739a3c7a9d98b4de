// SPDX-License-Identifier: Apache-2.0
// Arrays of indices as int64 positions, whatever their type and whatever lies out of range. Read in
// blocks that stay in cache, so that kernels are typed by their data alone.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "op/kernel.h"
#include "op/params/dense_and_sparse.h"

namespace mxnet {

// Immutable view; borrowed.
class Positions {
 public:
  static constexpr int64_t kBlock = 512;  // 4 KiB of positions

  // Throws Error(kType) for types that are no numbers, Error(kIndex) where nothing can be in range.
  Positions(const Tensor& indices, int64_t extent, OutOfRange rule, const char* tag);
  // Of each column of `indices`, whose first dimension has a line for each of the first dimensions
  // of `box`: where what it names lies in a box of these. Borrows the box.
  static Positions of_columns(const Tensor& indices, const Shape& box, OutOfRange rule,
                              const char* tag);

  int64_t count() const { return count_; }
  const Tensor& indices() const { return indices_; }
  OutOfRange rule() const { return rule_; }
  // The same indices in other memory.
  Positions of(const Tensor& indices) const {
    Positions result(*this);
    result.indices_ = indices;
    return result;
  }
  // Positions [first, first + n) into `to`. Throws Error(kIndex) as the rule says.
  void read(int64_t first, int64_t n, int64_t* to) const;

 private:
  void read_line(const char* from, int64_t extent, int64_t n, int64_t* to) const;
  void read_columns(int64_t first, int64_t n, int64_t* to) const;

  Tensor indices_;
  void (*convert_)(const void* from, int64_t* to, int64_t n);
  int64_t count_, extent_;
  OutOfRange rule_;
  const char* tag_;
  const Shape* box_ = nullptr;  // of columns
};

// fn(start, positions, n) for the blocks of [first, last).
template <class F>
void for_blocks(const Positions& positions, int64_t first, int64_t last, const F& fn) {
  std::array<int64_t, Positions::kBlock> block;
  for (int64_t start = first; start < last; start += Positions::kBlock) {
    const int64_t n = std::min(Positions::kBlock, last - start);
    positions.read(start, n, block.data());
    fn(start, block.data(), n);
  }
}

// Any numbers as int64, without a rule.
void read_int64(const Tensor& tensor, int64_t first, int64_t n, int64_t* to);
// Whether each of elements [first, first + n) is not zero; NaN is not.
void read_truth(const Tensor& tensor, int64_t first, int64_t n, bool* to);

}  // namespace mxnet
