// SPDX-License-Identifier: Apache-2.0
// Merging of ascending index lists, and calls of dense kernels along them.
#include "op/sparse/align.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/error.h"
#include "op/inline_vector.h"
#include "op/parallel.h"

namespace mxnet {
namespace {

// Zeros that stand for rows which are not stored: about a first-level cache, at least one row.
constexpr int64_t kZeroBytes = 16384;
// Elementary operations of an element, for the decision about threads.
constexpr double kElementCost = 4.0;

int64_t row_elements(const Tensor& values) { return values.shape().size(1, values.ndim()); }

// The part [first, first + count) of a tensor's rows, with a shape of its own.
struct Stretch {
  Shape shape;
  Tensor tensor;
  Stretch() = default;
  void set(const Tensor& values, int64_t first, int64_t count, void* zeros) {
    shape = values.shape();
    shape[0] = count;
    const auto bytes = static_cast<std::size_t>(row_elements(values)) * dtype_size(values.dtype);
    void* data = first < 0 ? zeros : values.as<char>() + static_cast<std::size_t>(first) * bytes;
    tensor = {data, nullptr, values.dtype};
  }
};

}  // namespace

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

RowSource RowSource::dense(const Tensor& values) {
  RowSource source;
  source.values_ = values;
  return source;
}

RowSource RowSource::packed(const Tensor& values) {
  RowSource source;
  source.kind_ = Kind::kPacked;
  source.values_ = values;
  return source;
}

RowSource RowSource::stored(const RowsView& view, std::span<const int64_t> rows) {
  RowSource source;
  source.kind_ = Kind::kStored;
  source.values_ = view.values;
  source.positions_.reserve(rows.size());
  int64_t at = 0;
  for (int64_t row : rows) {
    while (at < view.stored && view.index[at] < row) ++at;
    source.positions_.push_back(at < view.stored && view.index[at] == row ? at : kMissing);
  }
  return source;
}

int64_t RowSource::position(std::span<const int64_t> rows, int64_t k) const {
  switch (kind_) {
    case Kind::kDense:
      return rows[static_cast<std::size_t>(k)];
    case Kind::kStored:
      return positions_[static_cast<std::size_t>(k)];
    case Kind::kPacked:
      break;
  }
  return k;
}

void run_rows(SparseContext& context, std::span<const int64_t> rows, std::span<const RowSource> in,
              std::span<const RowSource> out) {
  if (rows.empty()) return;
  std::vector<const RowSource*> sources;
  for (const RowSource& source : in) sources.push_back(&source);
  for (const RowSource& source : out) sources.push_back(&source);
  int64_t widest = 1;
  for (const RowSource* source : sources)
    widest = std::max(widest, row_elements(source->values_) *
                                  static_cast<int64_t>(dtype_size(source->values_.dtype)));
  const int64_t zero_rows = std::max<int64_t>(1, kZeroBytes / widest);
  void* zeros = context.workspace(static_cast<std::size_t>(zero_rows * widest));
  std::memset(zeros, 0, static_cast<std::size_t>(zero_rows * widest));

  const auto count = static_cast<int64_t>(rows.size());
  const double cost = kElementCost * static_cast<double>(row_elements(out[0].values_));
  parallel_for(
      count, cost,
      [&](int64_t first, int64_t last) {
        std::vector<Stretch> stretches(sources.size());
        std::vector<int64_t> start(sources.size());
        InlineVector<Tensor, 8> tensors(sources.size());
        while (first < last) {
          bool missing = false;
          for (std::size_t s = 0; s < sources.size(); ++s) {
            start[s] = sources[s]->position(rows, first);
            missing |= start[s] < 0;
          }
          const int64_t limit = missing ? std::min(last, first + zero_rows) : last;
          int64_t end = first + 1;
          const auto goes_on = [&](std::size_t s) {
            const int64_t next = sources[s]->position(rows, end);
            return start[s] < 0 ? next < 0 : next == start[s] + (end - first);
          };
          for (bool together = true; end < limit; ++end) {
            for (std::size_t s = 0; together && s < sources.size(); ++s) together = goes_on(s);
            if (!together) break;
          }
          for (std::size_t s = 0; s < sources.size(); ++s) {
            stretches[s].set(sources[s]->values_, start[s], end - first, zeros);
            tensors[s] = stretches[s].tensor;
            tensors[s].shape_ptr = &stretches[s].shape;
          }
          const std::span<const Tensor> all = tensors.span();
          context.run_dense(all.first(in.size()), all.subspan(in.size()));
          first = end;
        }
      },
      1);
}

AlignedElements align_elements(const CsrView& lhs, const CsrView& rhs, Align align) {
  AlignedElements all;
  all.indptr.reserve(static_cast<std::size_t>(lhs.rows) + 1);
  all.indptr.push_back(0);
  const auto add = [&](int64_t column, int64_t a, int64_t b) {
    if (align == Align::kBoth && (a < 0 || b < 0)) return;
    all.columns.push_back(column);
    all.lhs.push_back(a);
    all.rhs.push_back(b);
  };
  for (int64_t row = 0; row < lhs.rows; ++row) {
    int64_t a = lhs.begin(row), b = rhs.begin(row);
    const int64_t a_end = lhs.end(row), b_end = rhs.end(row);
    while (a < a_end || b < b_end) {
      if (b == b_end || (a < a_end && lhs.indices[a] < rhs.indices[b])) {
        add(lhs.indices[a], a, -1);
        ++a;
      } else if (a == a_end || rhs.indices[b] < lhs.indices[a]) {
        add(rhs.indices[b], -1, b);
        ++b;
      } else {
        add(lhs.indices[a], a, b);
        ++a, ++b;
      }
    }
    all.indptr.push_back(static_cast<int64_t>(all.columns.size()));
  }
  return all;
}

void gather_elements(const Tensor& values, std::span<const int64_t> positions, void* out) {
  const auto gather = [&]<class Item>(Item* to) {
    const auto* from = values.as<const Item>();
    for (std::size_t k = 0; k < positions.size(); ++k)
      to[k] = positions[k] < 0 ? Item{0} : from[positions[k]];
  };
  // Elements are moved, not read: their size is all that matters, and all zeros are zero bits.
  switch (dtype_size(values.dtype)) {
    case 1:
      return gather(static_cast<uint8_t*>(out));
    case 2:
      return gather(static_cast<uint16_t*>(out));
    case 4:
      return gather(static_cast<uint32_t*>(out));
    default:
      MX_ASSERT(dtype_size(values.dtype) == 8);
      return gather(static_cast<uint64_t*>(out));
  }
}

}  // namespace mxnet
