// SPDX-License-Identifier: Apache-2.0
// Elements are moved by size; the condition becomes bytes a block at a time.
#include "op/index/choose.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "base/owned_lines.h"
#include "base/simd.h"
#include "op/moving/positions.h"
#include "op/moving/short_block.h"
#include "op/run/fill.h"
#include "op/run/gpu.h"
#include "op/run/gpu_table.h"
#include "op/run/moved_bytes.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/index/choose.inc"
#include "base/simd_wide_targets.h"

// Steps, in elements, of an array as if it were broadcast to `full`.
struct Steps {
  Steps(const Shape& shape, const Shape& full) {
    std::fill_n(of.begin(), full.ndim() - shape.ndim(), 0);
    int64_t step = 1;
    for (int i = 1; i <= shape.ndim(); ++i) {
      const int64_t dim = shape[shape.ndim() - i];
      of[static_cast<std::size_t>(full.ndim() - i)] = dim == 1 ? 0 : step;
      step *= dim;
    }
  }
  std::array<int64_t, Shape::kMaxDims> of;  // as many as `full` has; to clear all takes longer
};

// An operand: elements along the last dimension are `step` apart.
struct Operand {
  const Tensor& tensor;
  Steps steps;
  Operand(const Tensor& tensor, const Shape& full) : tensor(tensor), steps(tensor.shape(), full) {}
  [[gnu::noinline]] int64_t offset(int64_t row, const Shape& full) const {
    int64_t at = 0;
    for (int d = full.ndim() - 2; d >= 0; --d) {
      at += row % full[d] * steps.of[static_cast<std::size_t>(d)];
      row /= full[d];
    }
    return at;
  }
  int64_t step(const Shape& full) const {
    return steps.of[static_cast<std::size_t>(full.ndim() - 1)];
  }
};

// Both are read whichever is chosen, or GCC makes no vectors. Any byte but 0 holds: those of an
// array that nobody wrote, or of another program, may be others than 1. `out` may lie where one of
// the others does, and never shifted against it.
// `waits`: for memory, by which wide vectors are a tenth slower (Zen 5).
template <class W>
[[gnu::noinline]] void choose_each(const bool* holds, const W* x, const W* y, W* out, int64_t n,
                                   bool waits = false) {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(holds);
  if constexpr (sizeof(W) == sizeof(uint32_t)) {
    if (const auto wide = MX_SIMD_WIDE_AT(simd_level(), choose_words<uint8_t>);
        wide != nullptr && !waits)
      return wide(bytes, x, y, out, n);
  }
  for (int64_t i = 0; i < n; ++i) {
    const W on_true = x[i], on_false = y[i];
    out[i] = bytes[i] != 0 ? on_true : on_false;
  }
}

// Elements [first, first + n) of a condition: bool as it is, other types converted into `buffer`.
const bool* truth_of(const Tensor& condition, int64_t first, int64_t n, bool* buffer) {
  if (condition.dtype == DType::kBool) return condition.as<bool>() + first;
  read_truth(condition, first, n, buffer);
  return buffer;
}

// As choose_each by float32 as it lies; false where that takes bytes.
template <class W>
bool choose_by_floats(const Tensor& condition, int64_t first, const W* x, const W* y, W* out,
                      int64_t n) {
  if constexpr (sizeof(W) == sizeof(uint32_t)) {
    const auto wide = MX_SIMD_WIDE_AT(simd_level(), choose_words<float>);
    if (wide == nullptr || condition.dtype != DType::kFloat32) return false;
    wide(condition.as<const float>() + first, x, y, out, n);
    return true;
  }
  return false;
}

// A row of an operand, read a block at a time: one number for the whole row fills a block once.
template <class W>
class Row {
 public:
  Row(const Operand& operand, int64_t row, const Shape& full)
      : from_(operand.tensor.as<const W>() + operand.offset(row, full)),
        same_(operand.step(full) == 0) {
    if (same_) fill_same(block_.data(), std::min(full.back(), Positions::kBlock), *from_);
  }
  const W* at(int64_t start) const { return same_ ? block_.data() : from_ + start; }

 private:
  const W* from_;
  bool same_;
  std::array<W, Positions::kBlock> block_;
};

// Offsets of an operand's rows one after the other, without divisions.
class RowWalk {
 public:
  [[gnu::noinline]] RowWalk(const Operand& operand, int64_t row, const Shape& full)
      : operand_(operand), full_(full), at_(operand.offset(row, full)) {
    for (int d = full.ndim() - 2; d >= 0; --d) {
      index_[static_cast<std::size_t>(d)] = row % full[d];
      row /= full[d];
    }
  }
  int64_t at() const { return at_; }
  void next() {
    for (int d = full_.ndim() - 2; d >= 0; --d) {
      const std::size_t i = static_cast<std::size_t>(d);
      at_ += operand_.steps.of[i];
      if (++index_[i] < full_[d]) return;
      at_ -= operand_.steps.of[i] * full_[d];
      index_[i] = 0;
    }
  }

 private:
  const Operand& operand_;
  const Shape& full_;
  int64_t at_;
  std::array<int64_t, Shape::kMaxDims> index_;
};

// Rows shorter than this are chosen from a block at a time: each by itself takes longer to find
// than to choose from.
constexpr int64_t kShortRow = 32;

// Rows of `from`, the elements of an operand, from row `first` on: where they lie, or written out
// to `space`.
template <class W>
const void* laid_out(const Operand& operand, const Shape& full, int64_t first, int64_t rows,
                     void* space) {
  const auto* const from = static_cast<const W*>(operand.tensor.data);
  const int64_t length = full.back(), step = operand.step(full);
  if (operand.tensor.size() == full.size()) return from + first * length;
  RowWalk walk(operand, first, full);
  auto* to = static_cast<W*>(space);
  for (int64_t r = 0; r < rows; ++r, walk.next()) {
    const W* row = from + walk.at();
    for (int64_t i = 0; i < length; ++i, row += step) {
      asm("");  // vectors of so few elements take longer to set up
      *to++ = *row;
    }
  }
  return space;
}

const bool* truth_laid_out(const Operand& condition, const Shape& full, int64_t first, int64_t rows,
                           bool* space) {
  const int64_t length = full.back(), step = condition.step(full);
  if (condition.tensor.size() == full.size())
    return truth_of(condition.tensor, first * length, rows * length, space);
  if (condition.tensor.dtype == DType::kBool) {
    laid_out<uint8_t>(condition, full, first, rows, space);
    return space;
  }
  std::array<bool, kShortRow> truth;
  RowWalk walk(condition, first, full);
  for (int64_t r = 0; r < rows; ++r, walk.next()) {
    read_truth(condition.tensor, walk.at(), step == 0 ? 1 : length, truth.data());
    for (int64_t i = 0; i < length; ++i)
      space[r * length + i] = truth[static_cast<std::size_t>(i * step)];
  }
  return space;
}

template <class W>
void choose_some(const bool* holds, const void* x, const void* y, void* out, int64_t n) {
  choose_each(holds, static_cast<const W*>(x), static_cast<const W*>(y), static_cast<W*>(out), n);
}

// Elements of `size` bytes; `lay_out` and `choose` are the functions above for these, so that this
// is there once for all sizes.
void choose_short_rows(const Operand& condition, const Operand& x, const Operand& y,
                       const Shape& full, void* out, int64_t size,
                       decltype(&laid_out<uint8_t>) lay_out,
                       decltype(&choose_some<uint8_t>) choose) {
  const int64_t length = full.back();
  parallel_for(full.size() / length, 4.0 * static_cast<double>(length),
               [&](int64_t first, int64_t last) {
                 const int64_t block = Positions::kBlock / length;
                 std::array<bool, Positions::kBlock> holds;
                 std::array<uint64_t, Positions::kBlock> on_true, on_false;  // or narrower ones
                 for (int64_t row = first; row < last; row += block) {
                   const int64_t rows = std::min(block, last - row);
                   choose(truth_laid_out(condition, full, row, rows, holds.data()),
                          lay_out(x, full, row, rows, on_true.data()),
                          lay_out(y, full, row, rows, on_false.data()),
                          static_cast<char*>(out) + row * length * size, rows * length);
                 }
               });
}

// Rows of `width` bytes, each all of x or all of y: which one is added to an address, for a branch
// would be guessed wrongly every other time.
void choose_whole_rows(const Tensor& condition, const Tensor& x, const Tensor& y, void* out,
                       int64_t width) {
  const auto on_false = reinterpret_cast<std::uintptr_t>(y.data),
             apart = reinterpret_cast<std::uintptr_t>(x.data) - on_false;
  const double cost = 2.0 + cost_of_moving(2.0 * static_cast<double>(width));
  with_half(width, [&](auto half) {
    parallel_for(condition.size(), cost, [&](int64_t first, int64_t last) {
      std::array<bool, Positions::kBlock> buffer;
      for (int64_t start = first; start < last; start += Positions::kBlock) {
        const int64_t n = std::min(Positions::kBlock, last - start);
        const auto* const holds =
            reinterpret_cast<const uint8_t*>(truth_of(condition, start, n, buffer.data()));
        for (int64_t i = 0; i < n; ++i) {
          const int64_t at = (start + i) * width;
          const auto mask = std::uintptr_t{0} - static_cast<std::uintptr_t>(holds[i] != 0);
          const std::uintptr_t chosen = on_false + (apart & mask);
          move_halves<half>(reinterpret_cast<const char*>(chosen) + at,
                            static_cast<char*>(out) + at, width);
        }
      }
    });
  });
}

// out = condition ? x : y over rows of the last dimension, a block at a time.
template <class W>
void choose_rows(const Operand& condition, const Operand& x, const Operand& y, const Shape& full,
                 W* out) {
  const int64_t length = full.back(), rows = full.size() / std::max<int64_t>(length, 1);
  const int64_t width = length * static_cast<int64_t>(sizeof(W));
  const bool of_rows = condition.tensor.size() == rows && condition.step(full) == 0 &&
                       x.tensor.size() == full.size() && y.tensor.size() == full.size();
  if (rows > 1 && of_rows && width <= kShortBlock)
    return choose_whole_rows(condition.tensor, x.tensor, y.tensor, out, width);
  if (rows > 1 && length < kShortRow)
    return choose_short_rows(condition, x, y, full, out, sizeof(W), laid_out<W>, choose_some<W>);
  const int64_t condition_step = condition.step(full);
  const int64_t written = full.size() * static_cast<int64_t>(sizeof(W));
  constexpr int64_t kNear = int64_t{1} << 20;  // what a core has near it
  const bool owns = owns_lines(written), waits = written > kNear;
  const auto run = [&](int64_t row, int64_t first, int64_t last) {
    const int64_t condition_at = condition.offset(row, full);
    W* to = out + row * length;
    std::array<bool, Positions::kBlock> buffer;
    if (condition_step == 0) {
      const bool hold = *truth_of(condition.tensor, condition_at, 1, buffer.data());
      const Operand& chosen = hold ? x : y;
      const W* from = chosen.tensor.as<const W>() + chosen.offset(row, full);
      if (chosen.step(full) == 1) {
        std::memcpy(to + first, from + first, static_cast<std::size_t>(last - first) * sizeof(W));
      } else {
        fill_same(to + first, last - first, *from);
      }
      return;
    }
    const Row<W> on_true(x, row, full), on_false(y, row, full);
    for (int64_t start = first; start < last; start += Positions::kBlock) {
      const int64_t n = std::min(Positions::kBlock, last - start);
      if (owns) own_lines_ahead(to + start, n * static_cast<int64_t>(sizeof(W)));
      if (choose_by_floats(condition.tensor, condition_at + start, on_true.at(start),
                           on_false.at(start), to + start, n))
        continue;
      const bool* holds = truth_of(condition.tensor, condition_at + start, n, buffer.data());
      choose_each(holds, on_true.at(start), on_false.at(start), to + start, n, waits);
    }
  };
  if (rows == 1) {
    parallel_for(length, 2.0, [&](int64_t first, int64_t last) { run(0, first, last); });
    return;
  }
  parallel_for(
      rows, 2.0 * static_cast<double>(length) + 8,
      [&](int64_t first, int64_t last) {
        for (int64_t row = first; row < last; ++row) run(row, 0, length);
      },
      1);
}

// Shapes of a call as few dimensions: neighbours that each operand has, or is 1 in, are one.
struct Joined {
  Joined(const Shape& shape, std::array<const Shape*, 3> shapes) {
    std::array<bool, 3> before{};
    for (int d = 0; d < shape.ndim(); ++d) {
      if (shape[d] == 1) continue;
      std::array<bool, 3> whole{};
      for (std::size_t k = 0; k < whole.size(); ++k) {
        const int at = d - shape.ndim() + shapes[k]->ndim();
        whole[k] = at >= 0 && (*shapes[k])[at] != 1;
      }
      const bool joins = full.ndim() > 0 && whole == before;
      take(&full, shape[d], joins);
      for (std::size_t k = 0; k < whole.size(); ++k) take(&of[k], whole[k] ? shape[d] : 1, joins);
      before = whole;
    }
    if (full.ndim() == 0) full = Shape{1};
  }
  Shape full = Shape::scalar();
  std::array<Shape, 3> of{Shape::scalar(), Shape::scalar(), Shape::scalar()};

 private:
  static void take(Shape* shape, int64_t size, bool joins) {
    joins ? void((*shape)[shape->ndim() - 1] *= size) : shape->push_back(size);
  }
};

}  // namespace

void choose(const Tensor& condition, const Tensor& x, const Tensor& y, const Tensor& out,
            KernelContext& context) {
  if (out.size() == 0) return;
  if (const GpuTable* gpu = gpu_table(context))
    return gpu->choose(context.stream()->native(), condition, x, y, out);
  const Joined joined(out.shape(), {&condition.shape(), &x.shape(), &y.shape()});
  const Shape& full = joined.full;
  const Tensor c{condition.data, &joined.of[0], condition.dtype},
      left{x.data, &joined.of[1], x.dtype}, right{y.data, &joined.of[2], y.dtype};
  const Operand by(c, full), on_true(left, full), on_false(right, full);
  switch (dtype_size(out.dtype)) {
    case 1:
      return choose_rows(by, on_true, on_false, full, out.as<uint8_t>());
    case 2:
      return choose_rows(by, on_true, on_false, full, out.as<uint16_t>());
    case 4:
      return choose_rows(by, on_true, on_false, full, out.as<uint32_t>());
    default:
      return choose_rows(by, on_true, on_false, full, out.as<uint64_t>());
  }
}

}  // namespace mxnet
