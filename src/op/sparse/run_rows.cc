// SPDX-License-Identifier: Apache-2.0
// Dense kernels along lists of rows.
#include <algorithm>
#include <cstring>
#include <memory>

#include "op/inline_vector.h"
#include "op/run/parallel.h"
#include "op/sparse/align.h"

namespace mxnet {
namespace {

// Bytes of each operand that one call of the kernel gets: a few fit the first-level cache, and the
// call itself (about 0.1 us) does not count.
constexpr int64_t kBlockBytes = 8192;
// Rows of which a block would hold fewer are wide.
constexpr int64_t kFewRows = 4;
// Elementary operations of an element, for the decision about threads.
constexpr double kElementCost = 4.0;

constexpr int64_t kMissing = -1;

// One operand during a thread's part of the list: shows the kernel some rows as a tensor.
class RowWindow {
 public:
  RowWindow(const RowSource& source, int64_t block)
      : source_(source), shape_(source.values().shape()), block_(block) {}

  // Rows [first, first + count) of the list, where they are if they lie together.
  Tensor show(std::span<const int64_t> rows, int64_t first, int64_t count) {
    first_ = first;
    shape_[0] = count;
    start_ = source_.position(rows, first);
    gathered_ = !together(rows, count);
    if (gathered_) gather(rows, count);
    void* data = gathered_ ? buffer_.get() : source_.row(start_);
    return {data, &shape_, source_.values().dtype};
  }
  // Brings what the kernel has written to where it belongs.
  void put_back(std::span<const int64_t> rows) const {
    if (!gathered_) return;
    const std::size_t bytes = source_.row_bytes();
    for (int64_t k = 0; k < shape_[0]; ++k)
      std::memcpy(source_.row(source_.position(rows, first_ + k)),
                  buffer_.get() + static_cast<std::size_t>(k) * bytes, bytes);
  }

 private:
  bool together(std::span<const int64_t> rows, int64_t count) const {
    if (start_ < 0) return false;
    for (int64_t k = 1; k < count; ++k)
      if (source_.position(rows, first_ + k) != start_ + k) return false;
    return true;
  }
  void gather(std::span<const int64_t> rows, int64_t count) {
    const std::size_t bytes = source_.row_bytes();
    if (!buffer_)
      buffer_ = std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(block_) * bytes);
    for (int64_t k = 0; k < count; ++k) {
      const int64_t at = source_.position(rows, first_ + k);
      char* to = buffer_.get() + static_cast<std::size_t>(k) * bytes;
      at < 0 ? std::memset(to, 0, bytes) : std::memcpy(to, source_.row(at), bytes);
    }
  }

  const RowSource& source_;
  Shape shape_;
  const int64_t block_;
  int64_t first_ = 0, start_ = 0;
  bool gathered_ = false;
  std::unique_ptr<char[]> buffer_;
};

// How many rows from `first` on lie together, or are missing alike, in all operands.
int64_t common_stretch(std::span<const RowSource* const> sources, std::span<const int64_t> rows,
                       int64_t first, int64_t limit) {
  int64_t count = 1;
  for (; first + count < limit; ++count) {
    for (const RowSource* source : sources) {
      const int64_t start = source->position(rows, first);
      if (start < 0 || source->position(rows, first + count) != start + count) return count;
    }
  }
  return count;
}

}  // namespace

RowSource::RowSource(Kind kind, const Tensor& values, bool updated)
    : kind_(kind),
      updated_(updated),
      values_(values),
      row_elements_(values.shape().size(1, values.ndim())),
      row_bytes_(static_cast<std::size_t>(row_elements_) * dtype_size(values.dtype)) {}

RowSource RowSource::dense(const Tensor& values) { return {Kind::kDense, values, false}; }
RowSource RowSource::updated(const Tensor& values) { return {Kind::kDense, values, true}; }
RowSource RowSource::packed(const Tensor& values) { return {Kind::kPacked, values, false}; }

RowSource RowSource::stored(const RowsView& view, std::span<const int64_t> rows) {
  RowSource source(Kind::kStored, view.values, false);
  source.positions_.reserve(rows.size());
  int64_t at = 0;
  for (int64_t row : rows) {
    while (at < view.stored && view.index[at] < row) ++at;
    source.positions_.push_back(at < view.stored && view.index[at] == row ? at : kMissing);
  }
  return source;
}

void run_rows(const SparseContext& context, std::span<const int64_t> rows,
              std::span<const RowSource> in, std::span<const RowSource> out) {
  std::vector<const RowSource*> sources;
  std::size_t widest = 1;
  for (const std::span<const RowSource> list : {in, out}) {
    for (const RowSource& source : list) {
      sources.push_back(&source);
      widest = std::max(widest, source.row_bytes());
    }
  }
  const int64_t fitting = kBlockBytes / static_cast<int64_t>(widest);
  const bool narrow = fitting >= kFewRows;
  const int64_t block = narrow ? fitting : 1;
  parallel_for(
      static_cast<int64_t>(rows.size()), kElementCost * static_cast<double>(out[0].row_elements()),
      [&](int64_t first, int64_t last) {
        InlineVector<RowWindow, 8> windows;
        for (const RowSource* source : sources) windows.emplace_back(*source, block);
        InlineVector<Tensor, 8> tensors(sources.size());
        while (first < last) {
          const int64_t count =
              narrow ? std::min(block, last - first) : common_stretch(sources, rows, first, last);
          for (std::size_t s = 0; s < sources.size(); ++s)
            tensors[s] = windows[s].show(rows, first, count);
          const std::span<const Tensor> all = tensors.span();
          context.run_dense(all.first(in.size()), all.subspan(in.size()));
          for (std::size_t s = 0; s < sources.size(); ++s)
            if (s >= in.size() || sources[s]->is_updated()) windows[s].put_back(rows);
          first += count;
        }
      },
      1);
}

}  // namespace mxnet
