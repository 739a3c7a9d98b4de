// SPDX-License-Identifier: Apache-2.0
// Softmax: the largest element, the exponentials and their sum, the quotient. Rows along the last
// axis one by one; along other axes many neighbouring ones at once, as columns.
#include "op/norm/softmax_kernel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "op/norm/held_columns.h"
#include "op/norm/norm_loops.h"
#include "op/norm/row_sums.h"
#include "op/reducing/reduce_engine.h"
#include "op/run/gpu.h"
#include "op/run/gpu_table.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

constexpr double kCost = 12.0;     // elementary operations an element
constexpr int64_t kColumns = 512;  // columns at once: 2 KiB a step

bool in_double(const Tensor& a, const Tensor& b) {
  return a.dtype == DType::kFloat64 || b.dtype == DType::kFloat64;
}

int64_t length_of(const SoftmaxCall& call, int64_t row) {
  if (call.lengths == nullptr) return call.rows.length;
  const int64_t given = call.lengths->dtype == DType::kInt64 ? call.lengths->as<int64_t>()[row]
                                                             : call.lengths->as<int32_t>()[row];
  return std::clamp(given, int64_t{0}, call.rows.length);
}

// Subtracted before the exponential is taken, so that none is above 1.
template <class C>
C row_shift(const C* x, int64_t n, C scale) {
  if (!(scale < C(0))) return norm_loops<C>().max(x, n);
  return reduce_loops<C, C>(Reduction::min).row(x, n, C(0));
}

template <class C>
void forward_row(const SoftmaxCall& call, bool wide, const C* x, C* y, int64_t n) {
  const NormLoops<C>& loops = norm_loops<C>();
  const C scale = static_cast<C>(call.scale);
  const C shift = row_shift(x, n, scale);
  const bool log = call.kind == SoftmaxKind::kLog;
  const double sum = sum_blocks<C>(n, wide, [&](int64_t first, int64_t count) {
    return loops.exp_sum(x + first, log ? nullptr : y + first, count, shift, scale);
  });
  if (log) {
    loops.affine(x, y, n, shift, scale, static_cast<C>(-std::log(sum)));
  } else {
    loops.scale(y, n, static_cast<C>(1.0 / sum));
  }
}

// Rows of few elements that lie one behind another: some at once, of kLittle elements together.
constexpr int64_t kLittle = 1024;

template <class C>
bool are_little(const SoftmaxCall& call) {
  const RowLayout& rows = call.rows;
  return call.lengths == nullptr && rows.inner == 1 && rows.length >= NormLoops<C>::kLeastRow &&
         rows.length <= kLittle / 2;
}

// fn(first element, rows) for all.
template <class F>
void for_little_rows(const RowLayout& rows, const F& fn) {
  const int64_t together = kLittle / rows.length;
  parallel_for(
      rows.outer, kCost * static_cast<double>(rows.length),
      [&](int64_t first, int64_t last) {
        for (int64_t row = first; row < last; row += together)
          fn(row * rows.length, std::min(together, last - row));
      },
      1);
}

template <class C>
void forward_little_rows(const SoftmaxCall& call, const Tensor& in, const Tensor& out) {
  const int64_t n = call.rows.length;
  const C scale = static_cast<C>(call.scale);
  for_little_rows(call.rows, [&](int64_t at, int64_t rows) {
    std::array<C, kLittle> from, to;
    const C* const x = read_elements(in, at, rows * n, 1, from.data());
    C* const y = place_elements(out, at, 1, to.data());
    norm_loops<C>().softmax_rows(x, y, rows, n, scale, call.kind == SoftmaxKind::kLog);
    write_elements(out, at, rows * n, 1, y);
  });
}

template <class C>
void backward_little_rows(const SoftmaxCall& call, const Tensor& dy, const Tensor& y,
                          const Tensor& dx) {
  const int64_t n = call.rows.length;
  const C scale = static_cast<C>(call.scale);
  for_little_rows(call.rows, [&](int64_t at, int64_t rows) {
    std::array<C, kLittle> a, b, to;
    const C* const g = read_elements(dy, at, rows * n, 1, a.data());
    const C* const p = read_elements(y, at, rows * n, 1, b.data());
    C* const result = place_elements(dx, at, 1, to.data());
    norm_loops<C>().softmax_grad_rows(g, p, result, rows, n, scale, call.kind == SoftmaxKind::kLog);
    write_elements(dx, at, rows * n, 1, result);
  });
}

template <class C>
void forward_rows(const SoftmaxCall& call, const Tensor& in, const Tensor& out) {
  const RowLayout& rows = call.rows;
  const bool wide = accumulate_wide();
  map_rows<C>(
      rows, kCost, out,
      [&](int64_t row, C* y, const C* x) {
        const int64_t n = length_of(call, row);
        forward_row(call, wide, x, y, n);
        std::fill(y + n, y + rows.length, C(0));
      },
      in);
}

// Neighbouring rows are taken at once, as columns: those of inner axes, and rows so short that what
// goes before and after each would take longer than its elements.
constexpr int64_t kShort = 16;
// In blocks of memory of their own, unless a few are too long, or they lie ready side by side.
template <class C>
bool as_held(const RowLayout& rows, const Tensor& a, const Tensor& b) {
  if (!HeldBlocks::holds(rows)) return false;
  return rows.inner < HeldBlocks::kColumns || !lies_ready<C>(a, 1) || !lies_ready<C>(b, 1);
}

// Columns of inner axes where they lie. Of few columns, which then are all of an outer position's,
// several rows are met in one step.
struct ColumnSteps {
  const RowLayout& rows;
  int64_t first, columns;  // the first element, and how many columns

  int64_t together() const {
    return columns < rows.inner ? 1 : std::max(kColumns / columns, int64_t{1});
  }
  int64_t count() const { return (rows.length + together() - 1) / together(); }
  int64_t at(int64_t k) const { return first + k * together() * rows.inner; }
  int64_t rows_of(int64_t k) const { return std::min(together(), rows.length - k * together()); }
  int64_t elements(int64_t k) const { return rows_of(k) * columns; }
};

// fn(steps) for all columns, in blocks.
template <class F>
void for_columns(const RowLayout& rows, const F& fn) {
  const int64_t blocks = (rows.inner + kColumns - 1) / kColumns;
  parallel_for(
      rows.outer * blocks,
      kCost * static_cast<double>(rows.length * std::min(rows.inner, kColumns)),
      [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          const int64_t column = i % blocks * kColumns;
          fn(ColumnSteps{rows, i / blocks * rows.length * rows.inner + column,
                         std::min(kColumns, rows.inner - column)});
        }
      },
      1);
}

// The numbers of some columns for all rows of a step.
template <class C>
void repeat_for(const ColumnSteps& steps, C* values) {
  for (int64_t i = 1; i < steps.together(); ++i)
    std::copy_n(values, steps.columns, values + i * steps.columns);
}

// What is subtracted from each column: shift = the greatest of it and the elements of a row.
template <class C>
class ColumnShifts {
 public:
  explicit ColumnShifts(C scale) : least_(scale < C(0)) {}
  C first() const {
    constexpr C kInfinity = std::numeric_limits<C>::infinity();
    return least_ ? kInfinity : -kInfinity;
  }
  void meet(const C* x, int64_t n, C* shift) const {
    least_ ? minima_.columns(x, 1, n, shift, n, nullptr) : loops_.max_columns(x, n, shift);
  }

 private:
  const bool least_;
  const NormLoops<C>& loops_ = norm_loops<C>();
  const ReduceLoops<C, C>& minima_ = reduce_loops<C, C>(Reduction::min);
};

// What a column is multiplied by in the end, or its logarithm.
template <class C>
void settle_sums(bool log, C* sum, int64_t n) {
  if (log) return norm_loops<C>().negative_logs(sum, n);
  for (int64_t i = 0; i < n; ++i) sum[i] = C(1) / sum[i];
}

template <class C>
void forward_columns(const SoftmaxCall& call, const Tensor& in, const Tensor& out) {
  const NormLoops<C>& loops = norm_loops<C>();
  const RowLayout& rows = call.rows;
  const C scale = static_cast<C>(call.scale);
  const bool log = call.kind == SoftmaxKind::kLog;
  const ColumnShifts<C> shifts(scale);
  for_columns(rows, [&](const ColumnSteps& steps) {
    std::array<C, kColumns> from, to, shift, sum, scales;
    std::array<C, kColumns> other;  // sums that are not looked at
    const auto read = [&](int64_t k) {
      return read_elements(in, steps.at(k), steps.elements(k), 1, from.data());
    };
    const auto place = [&](int64_t k) { return place_elements(out, steps.at(k), 1, to.data()); };
    // Exponentials can wait in the result if it is of the type that is computed in.
    const bool keep = !log && place(0) != to.data(), several = steps.together() > 1;
    const int64_t most = steps.together() * steps.columns;
    std::fill_n(shift.data(), most, shifts.first());
    std::fill_n(sum.data(), most, C(0));
    if (several || !(keep || log)) std::fill_n(other.data(), most, C(0));
    if (log) std::fill_n(scales.data(), most, scale);
    for (int64_t k = 0; k < steps.count(); ++k)
      shifts.meet(read(k), steps.elements(k), shift.data());
    for (int64_t i = 1; i < steps.together(); ++i)
      shifts.meet(shift.data() + i * steps.columns, steps.columns, shift.data());
    repeat_for(steps, shift.data());
    for (int64_t k = 0; k < steps.count(); ++k) {
      C* const y = keep ? place(k) : several ? to.data() : nullptr;
      loops.exp_columns(read(k), y, steps.elements(k), shift.data(), scale,
                        several ? other.data() : sum.data());
      if (several) loops.add_columns(y, steps.columns, steps.rows_of(k), steps.columns, sum.data());
    }
    settle_sums(log, sum.data(), steps.columns);
    repeat_for(steps, sum.data());
    for (int64_t k = 0; k < steps.count(); ++k) {
      C* const y = place(k);
      const int64_t n = steps.elements(k);
      if (log) {
        loops.affine_columns(read(k), y, n, 1, n, shift.data(), scales.data(), sum.data());
      } else {
        if (!keep) loops.exp_columns(read(k), y, n, shift.data(), scale, other.data());
        loops.scale_columns(y, n, sum.data());
      }
      write_elements(out, steps.at(k), n, 1, y);
    }
  });
}

// Numbers of each of a block's columns, in whole vectors.
template <class C>
using OfColumns = std::vector<C>;

template <class C>
void forward_held(const SoftmaxCall& call, const Tensor& in, const Tensor& out) {
  struct Memory {
    HeldColumns<C> x;
    OfColumns<C> shift, sum, scales;
  };
  const NormLoops<C>& loops = norm_loops<C>();
  const C scale = static_cast<C>(call.scale);
  const bool log = call.kind == SoftmaxKind::kLog;
  const ColumnShifts<C> shifts(scale);
  const HeldBlocks blocks(call.rows);
  const auto make = [&] {
    HeldColumns<C> x(blocks);
    const auto n = static_cast<std::size_t>(x.step());
    return Memory{std::move(x), OfColumns<C>(n), OfColumns<C>(n), OfColumns<C>(n, scale)};
  };
  for_held(blocks, kCost, make, [&](const HeldBlocks::Block& block, Memory& memory) {
    auto& [x, shift, sum, scales] = memory;
    const int64_t n = x.step(), length = call.rows.length;
    x.read(in, block);
    std::ranges::fill(shift, shifts.first());
    std::ranges::fill(sum, C(0));
    for (int64_t k = 0; k < length; ++k) shifts.meet(x.row(k), n, shift.data());
    for (int64_t k = 0; k < length; ++k)
      loops.exp_columns(x.row(k), log ? nullptr : x.row(k), n, shift.data(), scale, sum.data());
    settle_sums(log, sum.data(), block.columns());
    if (log) {
      loops.affine_columns(x.values(), x.values(), n, length, n, shift.data(), scales.data(),
                           sum.data());
    } else {
      for (int64_t k = 0; k < length; ++k) loops.scale_columns(x.row(k), n, sum.data());
    }
    x.write(out, block);
  });
}

// Columns of float16 that lie side by side are converted as they are met. (Some are met again after
// their result is written.)
constexpr int64_t kHalves = NormLoops<float>::kHeldColumns;
bool takes_halves(const SoftmaxCall& call, const Tensor& in, const Tensor& out) {
  return in.dtype == DType::kFloat16 && out.dtype == DType::kFloat16 && in.data != out.data &&
         call.rows.inner >= kHalves && call.lengths == nullptr && call.scale > 0 &&
         HeldBlocks::holds(call.rows) && norm_loops<float>().softmax_half_columns != nullptr;
}

void forward_halves(const SoftmaxCall& call, const Tensor& in, const Tensor& out) {
  const RowLayout& rows = call.rows;
  const bool log = call.kind == SoftmaxKind::kLog;
  const int64_t parts = rows.inner / kHalves;  // the last one has what is left over, too
  parallel_for(
      rows.outer * parts, kCost * static_cast<double>(rows.length * kHalves),
      [&](int64_t first, int64_t last) {
        const auto held = std::make_unique_for_overwrite<float[]>(
            static_cast<std::size_t>(log ? 0 : rows.length * kHalves));
        for (int64_t i = first; i < last; ++i) {
          const int64_t part = i % parts, column = part * kHalves;
          const int64_t at = i / parts * rows.length * rows.inner + column;
          norm_loops<float>().softmax_half_columns(
              in.as<float16>() + at, out.as<float16>() + at,
              part + 1 == parts ? rows.inner - column : kHalves, rows.length, rows.inner,
              static_cast<float>(call.scale), log, held.get());
        }
      },
      1);
}

template <class C>
void backward_rows(const SoftmaxCall& call, const Tensor& dy, const Tensor& y, const Tensor& dx) {
  const NormLoops<C>& loops = norm_loops<C>();
  const RowLayout& rows = call.rows;
  const bool wide = accumulate_wide(), log = call.kind == SoftmaxKind::kLog;
  const C scale = static_cast<C>(call.scale);
  map_rows<C>(
      rows, kCost, dx,
      [&](int64_t row, C* to, const C* g, const C* p) {
        const int64_t n = length_of(call, row);
        const double d = sum_blocks<C>(n, wide, [&](int64_t begin, int64_t count) {
          return log ? loops.sum(g + begin, count) : loops.dot(g + begin, p + begin, count);
        });
        (log ? loops.log_softmax_grad : loops.softmax_grad)(g, p, to, n, static_cast<C>(d), scale);
        std::fill(to + n, to + rows.length, C(0));
      },
      dy, y);
}

template <class C>
void backward_columns(const SoftmaxCall& call, const Tensor& dy, const Tensor& y,
                      const Tensor& dx) {
  const NormLoops<C>& loops = norm_loops<C>();
  const RowLayout& rows = call.rows;
  const bool log = call.kind == SoftmaxKind::kLog;
  const C scale = static_cast<C>(call.scale);
  const auto slope = log ? loops.log_softmax_grad_columns : loops.softmax_grad_columns;
  for_columns(rows, [&](const ColumnSteps& steps) {
    std::array<C, kColumns> a, b, to, zero, sum, dot;
    for (C* const clear : {zero.data(), sum.data(), dot.data()})
      std::fill_n(clear, steps.columns, C(0));
    const auto read = [&](const Tensor& tensor, int64_t k, C* buffer) {
      return read_elements(tensor, steps.at(k), steps.elements(k), 1, buffer);
    };
    for (int64_t k = 0; k < steps.count(); ++k)
      loops.add_grad_columns(read(dy, k, a.data()), read(y, k, b.data()), steps.columns,
                             steps.rows_of(k), steps.columns, zero.data(), sum.data(), dot.data());
    C* const share = log ? sum.data() : dot.data();
    repeat_for(steps, share);
    for (int64_t k = 0; k < steps.count(); ++k) {
      C* const result = place_elements(dx, steps.at(k), 1, to.data());
      const int64_t n = steps.elements(k);
      slope(read(dy, k, a.data()), read(y, k, b.data()), result, n, share, scale);
      write_elements(dx, steps.at(k), n, 1, result);
    }
  });
}

template <class C>
void backward_held(const SoftmaxCall& call, const Tensor& dy, const Tensor& y, const Tensor& dx) {
  struct Memory {
    HeldColumns<C> dy, y;
    OfColumns<C> zero, sum, dot;
  };
  const NormLoops<C>& loops = norm_loops<C>();
  const bool log = call.kind == SoftmaxKind::kLog;
  const auto slope = log ? loops.log_softmax_grad_columns : loops.softmax_grad_columns;
  const C scale = static_cast<C>(call.scale);
  const HeldBlocks blocks(call.rows);
  const auto make = [&] {
    HeldColumns<C> g(blocks), p(blocks);
    const auto n = static_cast<std::size_t>(g.step());
    return Memory{std::move(g), std::move(p), OfColumns<C>(n), OfColumns<C>(n), OfColumns<C>(n)};
  };
  for_held(blocks, kCost, make, [&](const HeldBlocks::Block& block, Memory& memory) {
    auto& [g, p, zero, sum, dot] = memory;
    const int64_t n = g.step(), length = call.rows.length;
    g.read(dy, block);
    p.read(y, block);
    std::ranges::fill(sum, C(0));
    std::ranges::fill(dot, C(0));
    loops.add_grad_columns(g.values(), p.values(), n, length, n, zero.data(), sum.data(),
                           dot.data());
    for (int64_t k = 0; k < length; ++k)
      slope(g.row(k), p.row(k), g.row(k), n, (log ? sum : dot).data(), scale);
    g.write(dx, block);
  });
}

// Unless they end at different places.
bool as_columns(const SoftmaxCall& call) {
  const RowLayout& rows = call.rows;
  const bool short_rows = rows.length < kShort && rows.outer >= kShort;
  return (rows.inner > 1 || short_rows) && call.lengths == nullptr;
}

}  // namespace

void softmax_forward(const SoftmaxCall& call, const Tensor& in, const Tensor& out,
                     KernelContext& context) {
  if (in.size() == 0) return;
  if (const GpuTable* gpu = gpu_table(context))
    return gpu->softmax(context.stream()->native(), call, in, out, context);
  if (takes_halves(call, in, out)) return forward_halves(call, in, out);
  const auto run = [&](auto zero) {
    using C = decltype(zero);
    // (A logarithm of 1 would have the other sign.)
    const bool negated = call.scale < 0 && call.kind == SoftmaxKind::kLog;
    if (are_little<C>(call) && !negated) return forward_little_rows<C>(call, in, out);
    if (!as_columns(call)) return forward_rows<C>(call, in, out);
    as_held<C>(call.rows, in, out) ? forward_held<C>(call, in, out)
                                   : forward_columns<C>(call, in, out);
  };
  in_double(in, out) ? run(double{}) : run(float{});
}

void softmax_backward(const SoftmaxCall& call, const Tensor& dy, const Tensor& y, const Tensor& dx,
                      KernelContext& context) {
  if (dx.size() == 0) return;
  if (const GpuTable* gpu = gpu_table(context))
    return gpu->softmax_slope(context.stream()->native(), call, dy, y, dx, context);
  const auto run = [&](auto zero) {
    using C = decltype(zero);
    if (are_little<C>(call)) return backward_little_rows<C>(call, dy, y, dx);
    if (!as_columns(call)) return backward_rows<C>(call, dy, y, dx);
    as_held<C>(call.rows, y, dx) ? backward_held<C>(call, dy, y, dx)
                                 : backward_columns<C>(call, dy, y, dx);
  };
  in_double(y, dx) ? run(double{}) : run(float{});
}

}  // namespace mxnet
