// SPDX-License-Identifier: Apache-2.0
// Rows are merged in pieces that stay in the caches, straight into a result that has room for the
// most elements there can be; what threads have left free between their parts is closed at the end.
#include "op/sparse/csr_pairs.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "ndarray/sparse_check.h"
#include "op/run/accumulate.h"
#include "op/run/element_size.h"
#include "op/run/parallel.h"
#include "op/sparse/align.h"
#include "op/sparse/csr_merge.h"

namespace mxnet {
namespace {

// Elements that the dense kernel gets at once: its operands stay in the first-level cache, and the
// call itself does not count.
constexpr int64_t kPieceElements = 512;
// Elementary operations of merging an element, for the decision about threads.
constexpr double kMergeCost = 8.0;

Lines lines_of(const CsrView& csr, int64_t row) {
  return {csr.indptr + row, csr.indices, csr.values.as<char>()};
}

// A row of one operand, sorted into memory of its own, where elements of one column are added.
class SortedLine {
 public:
  explicit SortedLine(const CsrView& csr) : csr_(csr), item_(dtype_size(csr.values.dtype)) {}

  Lines of(int64_t row) {
    const int64_t begin = csr_.begin(row), count = csr_.end(row) - begin;
    const int64_t* columns = csr_.indices + begin;
    positions_.resize(static_cast<std::size_t>(count));
    std::iota(positions_.begin(), positions_.end(), int64_t{0});
    std::sort(positions_.begin(), positions_.end(), [&](int64_t a, int64_t b) {
      return columns[a] != columns[b] ? columns[a] < columns[b] : a < b;
    });
    columns_.resize(positions_.size());
    for (std::size_t k = 0; k < positions_.size(); ++k) {
      columns_[k] = columns[positions_[k]];
      positions_[k] += begin;
    }
    values_.resize(positions_.size() * item_);
    gather_elements(csr_.values, positions_, values_.data());
    ends_[1] = add_twins();
    return {ends_, columns_.data(), values_.data()};
  }

 private:
  // How many are left.
  int64_t add_twins() {
    const Shape one{1};
    const auto element = [&](std::size_t k) {
      return Tensor{values_.data() + k * item_, &one, csr_.values.dtype};
    };
    std::size_t kept = 0;
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      if (kept > 0 && columns_[kept - 1] == columns_[k]) {
        accumulate(element(kept - 1), element(k));
      } else {
        columns_[kept] = columns_[k];
        std::memmove(element(kept++).data, element(k).data, item_);
      }
    }
    return static_cast<int64_t>(kept);
  }

  const CsrView& csr_;
  const std::size_t item_;
  int64_t ends_[2] = {};
  std::vector<int64_t> positions_, columns_;
  std::vector<char> values_;
};

// The merge of two matrices into an output with room for all.
class Merge {
 public:
  Merge(const SparseContext& context, Align align)
      : context_(context),
        align_(align),
        left_(context.csr(0)),
        right_(context.csr(1)),
        fewer_(left_.stored < right_.stored ? left_ : right_),
        item_(dtype_size(left_.values.dtype)),
        merge_lines_(merge_of(item_, align, left_.columns)) {}

  void run() {
    if (have_one_pattern()) {
      out_.values = context_.make_like(0, 0);
      return compute(left_.values.as<char>(), right_.values.as<char>(), 0, left_.stored);
    }
    out_ = context_.make_csr(0, most_before(left_.rows));
    out_.indptr[0] = 0;
    const int64_t total = most_before(left_.rows);
    const int parts = std::max(1, threads_for(total, kMergeCost));
    std::vector<int64_t> first_rows(static_cast<std::size_t>(parts) + 1, left_.rows);
    for (int part = 0; part < parts; ++part)
      first_rows[static_cast<std::size_t>(part)] = row_at(total * part / parts);
    parallel_for(
        parts, kMergeCost * static_cast<double>(total) / parts,
        [&](int64_t first, int64_t last) {
          for (int64_t part = first; part < last; ++part) {
            const auto p = static_cast<std::size_t>(part);
            merge_rows(first_rows[p], first_rows[p + 1]);
          }
        },
        1);
    close_gaps(first_rows);
  }

 private:
  // Both store the same elements, by ascending columns, as gradients of one loss or an array and
  // itself do.
  bool have_one_pattern() const {
    const auto equal = [](const int64_t* a, const int64_t* b, int64_t count) {
      return a == b || std::equal(a, a + count, b);
    };
    return left_.stored == right_.stored && equal(left_.indptr, right_.indptr, left_.rows + 1) &&
           equal(left_.indices, right_.indices, left_.stored) && is_ascending(left_, 0, left_.rows);
  }
  // The most elements that the result can store in the rows before this one.
  int64_t most_before(int64_t row) const {
    return align_ == Align::kAny ? left_.begin(row) + right_.begin(row) : fewer_.begin(row);
  }
  // The first row before which there can be so many.
  int64_t row_at(int64_t count) const {
    int64_t low = 0, high = left_.rows;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (most_before(middle) < count)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  // Writes their elements from most_before(first) on, and their ends as if there were no gaps
  // before.
  void merge_rows(int64_t first, int64_t last) const {
    SortedLine left(left_), right(right_);
    std::vector<char> values;
    bool checked = false;
    int64_t at = most_before(first);
    for (int64_t row = first; row < last;) {
      int64_t end = row + 1;
      while (end < last && most_before(end + 1) - most_before(row) <= kPieceElements) ++end;
      const std::size_t most =
          static_cast<std::size_t>(most_before(end) - most_before(row)) * item_ + kMergeSlack;
      if (values.size() < 2 * most) values.resize(2 * most);
      const Merged to{out_.indices + at, most_before(last) - at, values.data(),
                      values.data() + most};
      int64_t count = 0;
      if (is_ascending(row, end)) {
        count = merge_lines_(lines_of(left_, row), lines_of(right_, row), end - row, to,
                             out_.indptr + row, at);
        row = end;
      }
      for (; row < end; ++row) {
        const auto done = static_cast<std::size_t>(count) * item_;
        const Merged behind{to.columns + count, to.room - count, to.left + done, to.right + done};
        const bool sorted = is_ascending(row, row + 1);
        if (!sorted && !std::exchange(checked, true)) check_columns(context_);
        count += merge_lines_(sorted ? lines_of(left_, row) : left.of(row),
                              sorted ? lines_of(right_, row) : right.of(row), 1, behind,
                              out_.indptr + row, at + count);
      }
      compute(values.data(), values.data() + most, at, count);
      at += count;
    }
  }
  // Seen by the way, where nobody has looked before: these columns are about to be read.
  static bool is_ascending(const CsrView& csr, int64_t row, int64_t end) {
    return csr.known_ascending || ascend(lines_of(csr, row), end - row, csr.columns);
  }
  bool is_ascending(int64_t row, int64_t end) const {
    return is_ascending(left_, row, end) && is_ascending(right_, row, end);
  }

  void compute(char* left, char* right, int64_t at, int64_t count) const {
    if (count == 0) return;
    const Shape shape{count};
    const DType dtype = out_.values.dtype;
    char* to = out_.values.as<char>() + static_cast<std::size_t>(at) * item_;
    const std::array<Tensor, 2> in{Tensor{left, &shape, dtype}, Tensor{right, &shape, dtype}};
    const Tensor result{to, &shape, dtype};
    context_.run_dense(in, {&result, 1});
  }

  void close_gaps(const std::vector<int64_t>& first_rows) {
    int64_t count = 0;
    for (std::size_t part = 0; part + 1 < first_rows.size(); ++part) {
      const int64_t first = first_rows[part], last = first_rows[part + 1];
      if (first == last) continue;
      const int64_t from = most_before(first), stored = out_.indptr[last] - from;
      if (from > count) {
        move(out_.indices, count, from, stored, sizeof(int64_t));
        move(out_.values.data, count, from, stored, item_);
        for (int64_t row = first; row < last; ++row) out_.indptr[row + 1] -= from - count;
      }
      count += stored;
    }
    context_.keep(0, count);
  }
  static void move(void* data, int64_t to, int64_t from, int64_t count, std::size_t item) {
    auto* bytes = static_cast<char*>(data);
    std::memmove(bytes + static_cast<std::size_t>(to) * item,
                 bytes + static_cast<std::size_t>(from) * item,
                 static_cast<std::size_t>(count) * item);
  }

  const SparseContext& context_;
  const Align align_;
  const CsrView left_, right_;
  const CsrView& fewer_;
  const std::size_t item_;
  const MergeLines merge_lines_;
  CsrView out_{};
};

}  // namespace

void check_columns(const SparseContext& context) {
  for (int i = 0; i < 2; ++i) require_safe_format(context.in(i));
}

void combine_csr(SparseContext& context, Align align) { Merge(context, align).run(); }

}  // namespace mxnet
