// SPDX-License-Identifier: Apache-2.0
// Where a row's entries of a block end is found by bisection; the next block's begin there.
#include "op/sparse/column_blocks.h"

#include <algorithm>
#include <vector>

namespace mxnet {
namespace {

// From so many on, entries of a row that fall into a block are worth being looked for.
constexpr int64_t kEntriesToFind = 8;

bool have_sorted_rows(const CsrView& csr) {
  for (int64_t row = 0; row < csr.rows; ++row)
    if (!std::is_sorted(csr.indices + csr.begin(row), csr.indices + csr.end(row))) return false;
  return true;
}

}  // namespace

bool has_column_blocks(const CsrView& csr, int64_t blocks) {
  return csr.stored >= kEntriesToFind * csr.rows * blocks &&
         (csr.known_ascending || have_sorted_rows(csr));
}

void run_column_blocks(const CsrView& csr, const int64_t* slots, int64_t first, int64_t last,
                       int64_t block, BlockBody body) {
  const auto rows = static_cast<std::size_t>(csr.rows);
  const auto find = [&](std::size_t i, int64_t from, int64_t slot) {
    return std::lower_bound(slots + from, slots + csr.indptr[i + 1], slot) - slots;
  };
  std::vector<int64_t> begins(rows), ends(rows);
  for (std::size_t i = 0; i < rows; ++i) ends[i] = find(i, csr.indptr[i], first);
  for (int64_t end; first < last; first = end) {
    end = std::min(first + block, last);
    begins.swap(ends);
    for (std::size_t i = 0; i < rows; ++i) ends[i] = find(i, begins[i], end);
    body.run(body.body, begins.data(), ends.data(), first, end);
  }
}

}  // namespace mxnet
