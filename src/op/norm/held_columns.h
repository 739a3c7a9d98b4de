// SPDX-License-Identifier: Apache-2.0
// Blocks of columns in memory of their own, where a row of them is long: for columns that lie in
// short pieces, one behind another, and for numbers of another type, which are converted once.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>

#include "op/loops/row_io.h"
#include "op/run/parallel.h"

namespace mxnet {

// How the columns of a layout are cut into blocks: of several outer positions, or of parts of one.
class HeldBlocks {
 public:
  static constexpr int64_t kColumns = 64;         // that a block has at least, if there are so many
  static constexpr int64_t kElements = 16 << 10;  // of a block, unless those are more

  explicit HeldBlocks(const RowLayout& rows) : rows_(rows) {
    const int64_t most = std::max(kElements / rows.length / kColumns * kColumns, kColumns);
    outer_ = std::clamp(most / rows.inner, int64_t{1}, rows.outer);
    inner_ = std::min(most, rows.inner);
    parts_ = (rows.inner + inner_ - 1) / inner_;
  }
  // Two blocks and what is converted for them stay in the second-level cache.
  static bool holds(const RowLayout& rows) { return rows.length * kColumns <= 4 * kElements; }

  struct Block {
    int64_t outer, outers;  // outer positions
    int64_t inner, inners;  // the columns of each
    int64_t columns() const { return outers * inners; }
  };
  int64_t count() const { return (rows_.outer + outer_ - 1) / outer_ * parts_; }
  Block operator[](int64_t i) const {
    const int64_t outer = i / parts_ * outer_, inner = i % parts_ * inner_;
    return {outer, std::min(outer_, rows_.outer - outer), inner,
            std::min(inner_, rows_.inner - inner)};
  }
  int64_t most_columns() const { return outer_ * inner_; }
  const RowLayout& rows() const { return rows_; }

 private:
  const RowLayout rows_;
  int64_t outer_, inner_, parts_;
};

// One block at a time: element k of column c is row(k)[c]. Up to step() they are whole vectors;
// what is no column holds zero.
template <class C>
class HeldColumns {
 public:
  explicit HeldColumns(const HeldBlocks& blocks);

  C* values() { return values_.get(); }
  C* row(int64_t k) { return values_.get() + k * step_; }
  int64_t step() const { return step_; }

  void read(const Tensor& from, const HeldBlocks::Block& block);
  void write(const Tensor& to, const HeldBlocks::Block& block);

 private:
  // fn(where it lies in the tensor, where here, elements) for each piece of a row of the block.
  template <class F>
  void for_pieces(const HeldBlocks::Block& block, const F& fn);

  const RowLayout& rows_;
  const int64_t step_;
  std::unique_ptr<C[]> values_, spare_;
};

// fn(block) for all blocks, shared among threads; make() makes what a thread needs for it.
template <class Make, class F>
void for_held(const HeldBlocks& blocks, double cost, const Make& make, const F& fn) {
  const auto elements = static_cast<double>(blocks.rows().length * blocks.most_columns());
  parallel_for(
      blocks.count(), cost * elements,
      [&](int64_t first, int64_t last) {
        auto memory = make();
        for (int64_t i = first; i < last; ++i) fn(blocks[i], memory);
      },
      1);
}

}  // namespace mxnet
