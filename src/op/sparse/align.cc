// SPDX-License-Identifier: Apache-2.0
// Merging of index lists.
#include "op/sparse/align.h"

#include <algorithm>
#include <numeric>

#include "op/run/element_size.h"

namespace mxnet {
std::vector<int64_t> all_rows(int64_t count) {
  std::vector<int64_t> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), int64_t{0});
  return rows;
}

std::vector<int64_t> rows_of_any(std::span<const RowsView> operands) {
  std::vector<int64_t> rows, merged;
  for (const RowsView& view : operands) {
    merged.clear();
    merged.reserve(rows.size() + static_cast<std::size_t>(view.stored));
    std::set_union(rows.begin(), rows.end(), view.index, view.index + view.stored,
                   std::back_inserter(merged));
    rows.swap(merged);
  }
  return rows;
}

std::vector<int64_t> rows_of_both(const RowsView& a, const RowsView& b) {
  std::vector<int64_t> rows;
  std::set_intersection(a.index, a.index + a.stored, b.index, b.index + b.stored,
                        std::back_inserter(rows));
  return rows;
}

namespace {

// Positions of the elements of a row by column: as they lie, but for rows that nobody has sorted.
void sort_row(const CsrView& csr, int64_t row, std::vector<int64_t>* positions) {
  positions->resize(static_cast<std::size_t>(csr.end(row) - csr.begin(row)));
  std::iota(positions->begin(), positions->end(), csr.begin(row));
  const auto before = [&](int64_t a, int64_t b) { return csr.indices[a] < csr.indices[b]; };
  if (!std::is_sorted(positions->begin(), positions->end(), before))
    std::sort(positions->begin(), positions->end(), before);
}

}  // namespace

AlignedElements align_elements(const CsrView& lhs, const CsrView& rhs, Align align) {
  AlignedElements all;
  all.indptr.reserve(static_cast<std::size_t>(lhs.rows) + 1);
  all.indptr.push_back(0);
  const auto most = static_cast<std::size_t>(
      align == Align::kBoth ? std::min(lhs.stored, rhs.stored) : lhs.stored + rhs.stored);
  for (std::vector<int64_t>* each : {&all.columns, &all.lhs, &all.rhs}) each->reserve(most);
  const auto add = [&](int64_t column, int64_t a, int64_t b) {
    if (align == Align::kBoth && (a < 0 || b < 0)) return;
    all.columns.push_back(column);
    all.lhs.push_back(a);
    all.rhs.push_back(b);
  };
  std::vector<int64_t> left, right;
  for (int64_t row = 0; row < lhs.rows; ++row) {
    sort_row(lhs, row, &left);
    sort_row(rhs, row, &right);
    auto a = left.begin(), b = right.begin();
    while (a != left.end() || b != right.end()) {
      if (b == right.end() || (a != left.end() && lhs.indices[*a] < rhs.indices[*b])) {
        add(lhs.indices[*a], *a, -1);
        ++a;
      } else if (a == left.end() || rhs.indices[*b] < lhs.indices[*a]) {
        add(rhs.indices[*b], -1, *b);
        ++b;
      } else {
        add(lhs.indices[*a], *a, *b);
        ++a, ++b;
      }
    }
    all.indptr.push_back(static_cast<int64_t>(all.columns.size()));
  }
  return all;
}

void gather_elements(const Tensor& values, std::span<const int64_t> positions, void* out) {
  dispatch_size(values.dtype, [&]<class Item>(Item zero) {
    auto* to = static_cast<Item*>(out);
    const auto* from = values.as<const Item>();
    for (std::size_t k = 0; k < positions.size(); ++k)
      to[k] = positions[k] < 0 ? zero : from[positions[k]];
  });
}

}  // namespace mxnet
