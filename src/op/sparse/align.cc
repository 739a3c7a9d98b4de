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

void gather_elements(const Tensor& values, std::span<const int64_t> positions, void* out) {
  dispatch_size(values.dtype, [&]<class Item>(Item zero) {
    auto* to = static_cast<Item*>(out);
    const auto* from = values.as<const Item>();
    for (std::size_t k = 0; k < positions.size(); ++k)
      to[k] = positions[k] < 0 ? zero : from[positions[k]];
  });
}

}  // namespace mxnet
