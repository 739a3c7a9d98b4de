// SPDX-License-Identifier: Apache-2.0
// Dense kernels along lists of rows.
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

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

// A row of zeros, for those that an operand does not store.
constexpr std::size_t kZeroBytes = 256;
alignas(16) constexpr char kZeros[kZeroBytes] = {};

// Moves a row of so many bytes.
struct MoveFour {
  void operator()(char* to, const char* from) const { std::memcpy(to, from, 4); }
};
struct MoveSixteens {
  void operator()(char* to, const char* from) const {
    for (std::size_t b = 0; b < bytes; b += 16) std::memcpy(to + b, from + b, 16);
  }
  std::size_t bytes;
};
struct MoveAny {
  void operator()(char* to, const char* from) const { std::memcpy(to, from, bytes); }
  std::size_t bytes;
};

// fn(move): of narrow rows a call of memcpy would take longer.
template <class F>
void dispatch_row(std::size_t bytes, const F& fn) {
  if (bytes == 4) return fn(MoveFour());
  if (bytes <= kZeroBytes && bytes % 16 == 0) return fn(MoveSixteens{bytes});
  fn(MoveAny{bytes});
}

// One operand during a thread's part of the list: shows the kernel some rows as a tensor.
class RowWindow {
 public:
  // What is only written is not brought together before.
  RowWindow(const RowSource& source, std::span<const int64_t> rows, int64_t block, bool is_read)
      : source_(source),
        positions_(source.positions(rows)),
        shape_(source.values().shape()),
        block_(block),
        is_read_(is_read) {}

  // Rows [first, first + count) of the list, where they are if they lie together.
  Tensor show(int64_t first, int64_t count) {
    first_ = first;
    shape_[0] = count;
    const int64_t start = positions_ == nullptr ? first : positions_[first];
    gathered_ = stretch(first, first + count) < count || start < 0;
    if (gathered_) gather();
    void* data = gathered_ ? buffer_.get() : source_.row(start);
    return {data, &shape_, source_.values().dtype};
  }
  // Brings what the kernel has written to where it belongs.
  void put_back() const {
    if (!gathered_) return;
    const std::size_t bytes = source_.row_bytes();
    char* const to = source_.row(0);
    const char* from = buffer_.get();
    dispatch_row(bytes, [&, positions = positions_ + first_, count = shape_[0]](const auto& move) {
      for (int64_t k = 0; k < count; ++k, from += bytes)
        move(to + static_cast<std::size_t>(positions[k]) * bytes, from);
    });
  }
  // How many rows from `first` on lie together: at least one, even if it is missing.
  int64_t stretch(int64_t first, int64_t limit) const {
    if (positions_ == nullptr) return limit - first;
    int64_t k = first + 1;
    while (k < limit && positions_[k - 1] >= 0 && positions_[k] == positions_[k - 1] + 1) ++k;
    return k - first;
  }

 private:
  void gather() {
    const std::size_t bytes = source_.row_bytes();
    if (!buffer_)
      buffer_ = std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(block_) * bytes);
    if (!is_read_) return;
    char* to = buffer_.get();
    const int64_t* const positions = positions_ + first_;
    if (bytes > kZeroBytes) {
      for (int64_t k = 0; k < shape_[0]; ++k, to += bytes)
        positions[k] < 0 ? std::memset(to, 0, bytes)
                         : std::memcpy(to, source_.row(positions[k]), bytes);
      return;
    }
    // Without a branch a row: whether it is stored is anybody's guess.
    const char* const from[] = {source_.row(0), kZeros};
    dispatch_row(bytes, [&, count = shape_[0]](const auto& move) {
      for (int64_t k = 0; k < count; ++k, to += bytes) {
        const int64_t missing = positions[k] >> 63;  // all bits or none
        move(to, from[-missing] + static_cast<std::size_t>(positions[k] & ~missing) * bytes);
      }
    });
  }

  const RowSource& source_;
  const int64_t* positions_;
  Shape shape_;
  const int64_t block_;
  const bool is_read_;
  int64_t first_ = 0;
  bool gathered_ = false;
  std::unique_ptr<char[]> buffer_;
};

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

RowSource RowSource::stored(const RowsView& view, std::vector<int64_t> positions) {
  RowSource source(Kind::kStored, view.values, false);
  source.positions_ = std::move(positions);
  return source;
}

RowSource RowSource::stored(const RowsView& view, std::span<const int64_t> rows) {
  RowSource source(Kind::kStored, view.values, false);
  source.positions_.assign(rows.size(), kMissing);
  // Without a branch a step: which list goes on is anybody's guess.
  const auto stored = static_cast<std::size_t>(view.stored);
  for (std::size_t at = 0, k = 0; at < stored && k < rows.size();) {
    const int64_t here = view.index[at], row = rows[k];
    source.positions_[k] = here == row ? static_cast<int64_t>(at) : kMissing;
    at += here <= row ? 1 : 0;
    k += row <= here ? 1 : 0;
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
        for (const RowSource* source : sources)
          windows.emplace_back(*source, rows, block, windows.size() < in.size());
        InlineVector<Tensor, 8> tensors(sources.size());
        while (first < last) {
          int64_t count = narrow ? std::min(block, last - first) : last - first;
          if (!narrow)
            for (const RowWindow& window : windows) count = window.stretch(first, first + count);
          for (std::size_t s = 0; s < sources.size(); ++s)
            tensors[s] = windows[s].show(first, count);
          const std::span<const Tensor> all = tensors.span();
          context.run_dense(all.first(in.size()), all.subspan(in.size()));
          for (std::size_t s = 0; s < sources.size(); ++s)
            if (s >= in.size() || sources[s]->is_updated()) windows[s].put_back();
          first += count;
        }
      },
      1);
}

}  // namespace mxnet
