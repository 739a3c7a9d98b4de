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
    const auto stored = static_cast<std::size_t>(view.stored);
    if (rows.empty()) {
      rows.assign(view.index, view.index + stored);
      continue;
    }
    // Without a branch a row: whose comes next is anybody's guess.
    merged.resize(rows.size() + stored);
    std::size_t i = 0, j = 0, n = 0;
    while (i < rows.size() && j < stored) {
      const int64_t a = rows[i], b = view.index[j];
      merged[n++] = std::min(a, b);
      i += a <= b ? 1 : 0;
      j += b <= a ? 1 : 0;
    }
    const auto at = merged.begin() + static_cast<std::ptrdiff_t>(n);
    const auto end =
        std::copy(view.index + j, view.index + stored,
                  std::copy(rows.begin() + static_cast<std::ptrdiff_t>(i), rows.end(), at));
    merged.erase(end, merged.end());
    rows.swap(merged);
  }
  return rows;
}

UnionOfTwo union_of(const RowsView& left, const RowsView& right) {
  const int64_t lefts = left.stored, rights = right.stored;
  const auto most = static_cast<std::size_t>(lefts + rights);
  UnionOfTwo result{std::vector<int64_t>(most), std::vector<int64_t>(most),
                    std::vector<int64_t>(most)};
  int64_t *const rows = result.rows.data(), *const at_left = result.left.data(),
                 *const at_right = result.right.data();
  int64_t i = 0, j = 0;
  std::size_t n = 0;
  while (i < lefts && j < rights) {  // as above
    const int64_t a = left.index[i], b = right.index[j];
    const auto of_left = -static_cast<int64_t>(a <= b), of_right = -static_cast<int64_t>(b <= a);
    rows[n] = std::min(a, b);
    at_left[n] = i | ~of_left;
    at_right[n] = j | ~of_right;
    i -= of_left;
    j -= of_right;
    ++n;
  }
  for (; i < lefts; ++i, ++n) rows[n] = left.index[i], at_left[n] = i, at_right[n] = -1;
  for (; j < rights; ++j, ++n) rows[n] = right.index[j], at_left[n] = -1, at_right[n] = j;
  for (auto* list : {&result.rows, &result.left, &result.right}) list->resize(n);
  return result;
}

std::vector<int64_t> rows_of_both(const RowsView& a, const RowsView& b) {
  std::vector<int64_t> rows;
  std::set_intersection(a.index, a.index + a.stored, b.index, b.index + b.stored,
                        std::back_inserter(rows));
  return rows;
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
