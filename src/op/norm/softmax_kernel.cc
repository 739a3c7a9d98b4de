// SPDX-License-Identifier: Apache-2.0
// Softmax: the largest element, the exponentials and their sum, the quotient. Rows along the last
// axis one by one; along other axes many neighbouring ones at once, as columns.
#include "op/norm/softmax_kernel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "op/norm/norm_loops.h"
#include "op/norm/row_sums.h"
#include "op/reducing/reduce_engine.h"
#include "op/run/gpu.h"
#include "op/run/gpu_table.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

constexpr double kCost = 12.0;     // elementary operations an element
constexpr int64_t kColumns = 256;  // columns at once: 1 KiB a step

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

struct Columns {
  explicit Columns(const RowLayout& rows) : length(rows.length) {
    if (rows.inner > 1) {
      groups = rows.outer;
      count = step = rows.inner;
    } else {
      count = rows.outer;
      between = rows.length;
    }
  }
  int64_t length, groups = 1, count = 1;  // elements of a column, groups, columns of each
  int64_t step = 1, between = 1;          // from element to element, and from column to column
};

// fn(group, first column, columns): all columns in blocks.
template <class F>
void for_columns(const Columns& all, const F& fn) {
  const int64_t blocks = (all.count + kColumns - 1) / kColumns;
  parallel_for(
      all.groups * blocks, kCost * static_cast<double>(all.length * std::min(all.count, kColumns)),
      [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          const int64_t column = i % blocks * kColumns;
          fn(i / blocks, column, std::min(kColumns, all.count - column));
        }
      },
      1);
}

// Some columns of one block: where the elements of step k lie.
class ColumnSteps {
 public:
  ColumnSteps(const Columns& all, int64_t group, int64_t column)
      : first_(group * all.length * all.step + column * all.between), step_(all.step) {}
  int64_t operator[](int64_t k) const { return first_ + k * step_; }

 private:
  const int64_t first_, step_;
};

template <class C>
void forward_columns(const SoftmaxCall& call, const Tensor& in, const Tensor& out) {
  const NormLoops<C>& loops = norm_loops<C>();
  const Columns all(call.rows);
  const C scale = static_cast<C>(call.scale);
  const bool log = call.kind == SoftmaxKind::kLog;
  for_columns(all, [&](int64_t group, int64_t column, int64_t n) {
    std::array<C, kColumns> from, to, shift, sum, scales;
    const ColumnSteps at(all, group, column);
    const auto read = [&](int64_t k) {
      return read_elements(in, at[k], n, all.between, from.data());
    };
    const auto place = [&](int64_t k) {
      return place_elements(out, at[k], all.between, to.data());
    };
    // Exponentials can wait in the result if it is of the type that is computed in.
    const bool keep = !log && all.length > 0 && place(0) != to.data();
    const bool least = scale < C(0);
    shift.fill(least ? std::numeric_limits<C>::infinity() : -std::numeric_limits<C>::infinity());
    sum.fill(C(0));
    const auto& minima = reduce_loops<C, C>(Reduction::min);
    for (int64_t k = 0; k < all.length; ++k) {
      const C* x = read(k);
      least ? minima.columns(x, 1, n, shift.data(), n, nullptr)
            : loops.max_columns(x, n, shift.data());
    }
    for (int64_t k = 0; k < all.length; ++k)
      loops.exp_columns(read(k), keep ? place(k) : nullptr, n, shift.data(), scale, sum.data());
    for (int64_t i = 0; i < n; ++i) {
      C& s = sum[static_cast<std::size_t>(i)];
      s = log ? -std::log(s) : C(1) / s;
    }
    scales.fill(scale);
    std::array<C, kColumns> again;  // the sums once more, not looked at
    again.fill(C(0));
    for (int64_t k = 0; k < all.length; ++k) {
      C* y = place(k);
      if (log) {
        loops.affine_columns(read(k), y, n, 1, n, shift.data(), scales.data(), sum.data());
      } else {
        if (!keep) loops.exp_columns(read(k), y, n, shift.data(), scale, again.data());
        loops.scale_columns(y, n, sum.data());
      }
      write_elements(out, at[k], n, all.between, y);
    }
  });
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
  const Columns all(call.rows);
  const bool log = call.kind == SoftmaxKind::kLog;
  const C scale = static_cast<C>(call.scale);
  for_columns(all, [&](int64_t group, int64_t column, int64_t n) {
    std::array<C, kColumns> a, b, to, zero{}, sum{}, dot{};
    const ColumnSteps at(all, group, column);
    for (int64_t k = 0; k < all.length; ++k) {
      loops.add_grad_columns(read_elements(dy, at[k], n, all.between, a.data()),
                             read_elements(y, at[k], n, all.between, b.data()), n, 1, n,
                             zero.data(), sum.data(), dot.data());
    }
    for (int64_t k = 0; k < all.length; ++k) {
      C* result = place_elements(dx, at[k], all.between, to.data());
      const auto loop = log ? loops.log_softmax_grad_columns : loops.softmax_grad_columns;
      loop(read_elements(dy, at[k], n, all.between, a.data()),
           read_elements(y, at[k], n, all.between, b.data()), result, n,
           log ? sum.data() : dot.data(), scale);
      write_elements(dx, at[k], n, all.between, result);
    }
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
  const auto run = [&](auto zero) {
    using C = decltype(zero);
    as_columns(call) ? forward_columns<C>(call, in, out) : forward_rows<C>(call, in, out);
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
    as_columns(call) ? backward_columns<C>(call, dy, y, dx) : backward_rows<C>(call, dy, y, dx);
  };
  in_double(y, dx) ? run(double{}) : run(float{});
}

}  // namespace mxnet
