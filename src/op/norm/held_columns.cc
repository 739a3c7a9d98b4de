// SPDX-License-Identifier: Apache-2.0
// Bringing columns to memory of their own and back.
#include "op/norm/held_columns.h"

#include "op/moving/strided_copy.h"

namespace mxnet {
namespace {

constexpr int64_t kVector = 16;  // elements of the widest

// From where the outer positions of a block lie to where its columns do.
StridedPlan turned(const RowLayout& rows, const HeldBlocks::Block& block, int64_t step) {
  StridedPlan plan;
  plan.add(rows.length, rows.inner, step);
  plan.add(block.outers, rows.length * rows.inner, rows.inner);
  plan.add(rows.inner, 1, 1);
  return plan;
}

// Short pieces are converted together and turned by the loops of transposing.
bool in_pieces(const RowLayout& rows) { return rows.inner >= HeldBlocks::kColumns; }

}  // namespace

template <class C>
HeldColumns<C>::HeldColumns(const HeldBlocks& blocks)
    : rows_(blocks.rows()),
      step_((blocks.most_columns() + kVector - 1) / kVector * kVector),
      values_(std::make_unique_for_overwrite<C[]>(static_cast<std::size_t>(rows_.length * step_))) {
  if (!in_pieces(rows_))
    spare_ = std::make_unique_for_overwrite<C[]>(
        static_cast<std::size_t>(rows_.length * blocks.most_columns()));
}

template <class C>
template <class F>
void HeldColumns<C>::for_pieces(const HeldBlocks::Block& block, const F& fn) {
  for (int64_t i = 0; i < block.outers; ++i) {
    int64_t at = (block.outer + i) * rows_.length * rows_.inner + block.inner;
    for (int64_t k = 0; k < rows_.length; ++k, at += rows_.inner)
      fn(at, row(k) + i * block.inners, block.inners);
  }
}

template <class C>
void HeldColumns<C>::read(const Tensor& from, const HeldBlocks::Block& block) {
  const int64_t columns = block.columns(), each = rows_.length * rows_.inner;
  if (in_pieces(rows_)) {
    for_pieces(block, [&](int64_t at, C* to, int64_t n) {
      const C* const lying = read_elements(from, at, n, 1, to);
      if (lying != to) std::copy_n(lying, n, to);
    });
  } else {
    const C* const lying =
        read_elements(from, block.outer * each, block.outers * each, 1, spare_.get());
    copy_strided(turned(rows_, block, step_), lying, values_.get(), sizeof(C));
  }
  if (columns == step_) return;
  for (int64_t k = 0; k < rows_.length; ++k) std::fill(row(k) + columns, row(k) + step_, C(0));
}

template <class C>
void HeldColumns<C>::write(const Tensor& to, const HeldBlocks::Block& block) {
  const int64_t each = rows_.length * rows_.inner;
  if (in_pieces(rows_)) {
    return for_pieces(
        block, [&](int64_t at, const C* from, int64_t n) { write_elements(to, at, n, 1, from); });
  }
  C* const lying = place_elements(to, block.outer * each, 1, spare_.get());
  copy_strided(turned(rows_, block, step_).reversed(), values_.get(), lying, sizeof(C));
  write_elements(to, block.outer * each, block.outers * each, 1, lying);
}

template class HeldColumns<float>;
template class HeldColumns<double>;

}  // namespace mxnet
