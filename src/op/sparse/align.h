// SPDX-License-Identifier: Apache-2.0
// Elementwise work on arrays of different layouts: first which rows (or elements) of the result are
// computed and where each operand has them, then the operator's dense kernel on stretches of
// memory.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "op/sparse_context.h"

namespace mxnet {

// Ascending row numbers that the operands have in common or together.
std::vector<int64_t> rows_of_any(std::span<const RowsView> operands);
std::vector<int64_t> rows_of_both(const RowsView& a, const RowsView& b);
std::vector<int64_t> all_rows(int64_t count);

// Rows of two together, and where each operand has them (-1: it does not).
struct UnionOfTwo {
  std::vector<int64_t> rows, left, right;
};
UnionOfTwo union_of(const RowsView& left, const RowsView& right);

// An operand or result of which single rows are used.
class RowSource {
 public:
  // Every row where it is. `values` has as many rows as the whole array.
  static RowSource dense(const Tensor& values);
  // The same for an input that the kernel writes too.
  static RowSource updated(const Tensor& values);
  // The rows that are stored, zeros where there are none. Copies nothing: `view` outlives it.
  static RowSource stored(const RowsView& view, std::span<const int64_t> rows);
  static RowSource stored(const RowsView& view, std::vector<int64_t> positions);
  // Row k is the k-th of the list.
  static RowSource packed(const Tensor& values);

  const Tensor& values() const { return values_; }
  bool is_updated() const { return updated_; }
  int64_t row_elements() const { return row_elements_; }
  std::size_t row_bytes() const { return row_bytes_; }
  // Where each row of the list lies; negative for a row of zeros. Null where row k is the k-th.
  const int64_t* positions(std::span<const int64_t> rows) const {
    return kind_ == Kind::kPacked  ? nullptr
           : kind_ == Kind::kDense ? rows.data()
                                   : positions_.data();
  }
  char* row(int64_t position) const {
    return values_.as<char>() + static_cast<std::size_t>(position) * row_bytes_;
  }

 private:
  enum class Kind : uint8_t { kDense, kStored, kPacked };
  RowSource(Kind kind, const Tensor& values, bool updated);

  Kind kind_;
  bool updated_;
  Tensor values_;
  int64_t row_elements_;
  std::size_t row_bytes_;
  std::vector<int64_t> positions_;  // kStored: by number in the list
};

// The dense kernel on the listed rows, in parallel. Narrow rows that lie apart are brought together
// in cache first, so that one call does many; wide ones are computed where they are.
void run_rows(const SparseContext& context, std::span<const int64_t> rows,
              std::span<const RowSource> in, std::span<const RowSource> out);

// out[k] = values[positions[k]], zero for -1.
void gather_elements(const Tensor& values, std::span<const int64_t> positions, void* out);

}  // namespace mxnet
