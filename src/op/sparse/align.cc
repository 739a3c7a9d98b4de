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
