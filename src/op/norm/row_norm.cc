// SPDX-License-Identifier: Apache-2.0
// Rows in cache: one pass for the moments, one for the result. Gradients of parameters are added
// up in portions of rows that follow from the shape alone, so that threads do not change sums.
#include "op/norm/row_norm.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "op/norm/norm_loops.h"
#include "op/norm/row_sums.h"
#include "op/run/gpu.h"
#include "op/run/gpu_table.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

constexpr double kForwardCost = 4.0, kBackwardCost = 8.0;  // elementary operations an element
// Portions whose sums are kept apart: enough for many cores, few enough to be added up quickly.
constexpr int64_t kPortions = 32;
// Rows of a portion that are added up by themselves: each rounding of a long sum is as large as
// that.
constexpr int64_t kRowsOfSum = 16;
// Elements of rows that are normalised together: they stay in the first-level cache.
constexpr int64_t kElementsTogether = 2048;

// Gamma and beta as numbers of C.
template <class C>
class Parameters {
 public:
  explicit Parameters(const Tensor& tensor)
      : buffer_(static_cast<std::size_t>(tensor.size())),
        values_(read_elements(tensor, 0, tensor.size(), 1, buffer_.data())) {}
  const C* data() const { return values_; }
  C operator[](int64_t i) const { return values_[i]; }

 private:
  std::vector<C> buffer_;
  const C* values_;
};

struct RowMoments {
  double mean, inverse_std;
};

// Half types cannot hold a mean well enough to compute with it again.
template <class C>
RowMoments moments_again(const RowNorm& norm, const Tensor& mean, const Tensor& std, int64_t row,
                         const C* x) {
  if (mean.dtype == DType::kFloat32 || mean.dtype == DType::kFloat64)
    return {read_element(mean, row), 1.0 / read_element(std, row)};
  const Moments moments = moments_of(norm_loops<C>(), x, norm.rows.length);
  return {moments.mean, 1.0 / std::sqrt(moments.variance() + norm.eps)};
}

// Of rows that are normalised together. Made once: to clear it takes as long as a short row.
using SomeMoments = std::array<Moments, kRowsTogether>;

// Rows [row, row + count), which follow each other at `x` and go to `y`.
template <class C>
void normalize(const NormLoops<C>& loops, const RowNorm& norm, const C* x, C* y, int64_t row,
               int64_t count, const Parameters<C>& gamma, const Parameters<C>& beta,
               const Tensor& mean, const Tensor& std, SomeMoments& moments) {
  const int64_t length = norm.rows.length;
  if (count > 1) {
    std::fill_n(moments.begin(), count, Moments{});
    add_blocks(loops, x, length, count, moments.data());
  } else {
    moments[0] = moments_of(loops, x, length);
  }
  std::array<C, kRowsTogether> shifts, scales;
  for (std::size_t r = 0; r < static_cast<std::size_t>(count); ++r) {
    const double root = std::sqrt(moments[r].variance() + norm.eps);
    const int64_t at = row + static_cast<int64_t>(r);
    shifts[r] = static_cast<C>(moments[r].mean);
    scales[r] = static_cast<C>((norm.groups == 0 ? 1.0 : gamma[at % norm.groups]) / root);
    write_element(mean, at, moments[r].mean);
    write_element(std, at, root);
  }
  if (norm.groups == 0)
    return loops.affine_each(x, y, length, count, shifts.data(), scales.data(), gamma.data(),
                             beta.data());
  for (std::size_t r = 0; r < static_cast<std::size_t>(count); ++r, x += length, y += length)
    loops.affine(x, y, length, shifts[r], scales[r],
                 beta[(row + static_cast<int64_t>(r)) % norm.groups]);
}

template <class C>
void forward(const RowNorm& norm, const Tensor& in, const Tensor& gamma, const Tensor& beta,
             const Tensor& out, const Tensor& mean, const Tensor& std) {
  const NormLoops<C>& loops = norm_loops<C>();
  const Parameters<C> g(gamma), b(beta);
  const int64_t length = norm.rows.length;
  const int64_t most = std::clamp(kElementsTogether / std::max(length, int64_t{1}), int64_t{1},
                                  length > 0 ? kRowsTogether : 1);
  parallel_for(
      norm.rows.rows(), kForwardCost * static_cast<double>(length),
      [&](int64_t first, int64_t last) {
        RowWriter<C> write(out, norm.rows, last);
        RowReader<C> read(in, norm.rows, last);
        SomeMoments moments;
        for (int64_t row = first; row < last;) {
          const C* const x = read(row);
          C* const y = write.begin(row);
          const int64_t count = std::min({most, read.at_hand(row), write.at_hand(row)});
          normalize(loops, norm, x, y, row, count, g, b, mean, std, moments);
          row += count;
          write.finish(row - 1);
        }
      },
      1);
}

// The gradient of one row's data; `gamma` null: it is `factor` for all.
template <class C>
void row_gradient(const NormLoops<C>& loops, const C* dy, const C* x, C* dx, int64_t length,
                  const RowMoments& moments, const C* gamma, double factor, double* sums) {
  const C mean = static_cast<C>(moments.mean);
  sums[0] = sums[1] = 0;
  for (int64_t first = 0; first < length; first += kSumBlock) {
    const int64_t n = std::min(kSumBlock, length - first);
    C block[2];
    if (gamma != nullptr) {
      loops.grad_sums_each(dy + first, gamma + first, x + first, n, mean, block);
    } else {
      loops.grad_sums(dy + first, x + first, n, mean, block);
    }
    sums[0] += block[0];
    sums[1] += block[1];
  }
  const double n = static_cast<double>(length), r = moments.inverse_std;
  const double a = length == 1 ? 0 : factor * r;  // one number is its own mean: exactly no slope
  const C b = static_cast<C>(-a * r * r * sums[1] / n), c = static_cast<C>(-a * sums[0] / n);
  if (gamma != nullptr) {
    loops.affine_grad_each(dy, gamma, x, dx, length, mean, static_cast<C>(a), b, c);
  } else {
    loops.affine_grad(dy, x, dx, length, mean, static_cast<C>(a), b, c);
  }
}

// LayerNorm: parameters for each element.
template <class C>
void backward_each(const RowNorm& norm, const Tensor& dy, const Tensor& in, const Tensor& gamma,
                   const Tensor& mean, const Tensor& std, const Tensor& dx, const Tensor& dgamma,
                   const Tensor& dbeta, KernelContext& context) {
  const NormLoops<C>& loops = norm_loops<C>();
  const Parameters<C> g(gamma);
  const int64_t length = norm.rows.length, rows = norm.rows.rows();
  const int64_t portion = std::max((rows + kPortions - 1) / kPortions, int64_t{8});
  const int64_t portions = (rows + portion - 1) / portion;
  C* partial = context.workspace_of<C>(2 * portions * length);
  std::fill_n(partial, 2 * portions * length, C(0));
  parallel_for(
      portions, kBackwardCost * static_cast<double>(portion * length),
      [&](int64_t first, int64_t last) {
        const int64_t end = std::min(rows, last * portion);
        RowReader<C> read_dy(dy, norm.rows, end), read_x(in, norm.rows, end);
        RowWriter<C> write(dx, norm.rows, end);
        const bool is_long = portion > kRowsOfSum;
        std::vector<C> some(is_long ? static_cast<std::size_t>(2 * length) : 0);
        for (int64_t row = first * portion; row < end; ++row) {
          const C* d = read_dy(row);
          const C* x = read_x(row);
          const RowMoments moments = moments_again(norm, mean, std, row, x);
          C* const all = partial + row / portion * 2 * length;
          C* const sums = is_long ? some.data() : all;
          loops.add_param_grads(d, x, length, static_cast<C>(moments.mean),
                                static_cast<C>(moments.inverse_std), sums, sums + length);
          const int64_t next = row + 1;
          if (is_long && (next % kRowsOfSum == 0 || next % portion == 0 || next == end))
            loops.fold(sums, all, 2 * length);
          C* to = write.begin(row);
          double row_sums[2];
          row_gradient(loops, d, x, to, length, moments, g.data(), 1.0, row_sums);
          write.finish(row);
        }
      },
      1);
  parallel_for(2 * length, static_cast<double>(portions), [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      double sum = 0;
      for (int64_t p = 0; p < portions; ++p) sum += partial[p * 2 * length + i];
      write_element(i < length ? dgamma : dbeta, i < length ? i : i - length, sum);
    }
  });
}

// GroupNorm and InstanceNorm: parameters for each row.
template <class C>
void backward_groups(const RowNorm& norm, const Tensor& dy, const Tensor& in, const Tensor& gamma,
                     const Tensor& mean, const Tensor& std, const Tensor& dx, const Tensor& dgamma,
                     const Tensor& dbeta, KernelContext& context) {
  const NormLoops<C>& loops = norm_loops<C>();
  const int64_t length = norm.rows.length, rows = norm.rows.rows();
  double* sums = context.workspace_of<double>(2 * rows);
  parallel_for(
      rows, kBackwardCost * static_cast<double>(length),
      [&](int64_t first, int64_t last) {
        RowReader<C> read_dy(dy, norm.rows, last), read_x(in, norm.rows, last);
        RowWriter<C> write(dx, norm.rows, last);
        for (int64_t row = first; row < last; ++row) {
          const C* d = read_dy(row);
          const C* x = read_x(row);
          C* to = write.begin(row);
          const RowMoments moments = moments_again(norm, mean, std, row, x);
          row_gradient<C>(loops, d, x, to, length, moments, nullptr,
                          read_element(gamma, row % norm.groups), sums + 2 * row);
          sums[2 * row + 1] *= moments.inverse_std;
          write.finish(row);
        }
      },
      1);
  for (int64_t group = 0; group < norm.groups; ++group) {
    double total[2] = {0, 0};
    for (int64_t row = group; row < rows; row += norm.groups) {
      total[0] += sums[2 * row];
      total[1] += sums[2 * row + 1];
    }
    write_element(dbeta, group, total[0]);
    write_element(dgamma, group, total[1]);
  }
}

}  // namespace

void row_norm_forward(const RowNorm& norm, const Tensor& in, const Tensor& gamma,
                      const Tensor& beta, const Tensor& out, const Tensor& mean, const Tensor& std,
                      KernelContext& context) {
  if (norm.rows.rows() == 0) return;  // without channels InstanceNorm's rows have no groups
  if (const GpuTable* gpu = gpu_table(context))
    return gpu->row_norm(context.stream()->native(), norm, in, gamma, beta, out, mean, std,
                         context);
  with_row_type(in.dtype,
                [&](auto zero) { forward<decltype(zero)>(norm, in, gamma, beta, out, mean, std); });
}

void row_norm_backward(const RowNorm& norm, const Tensor& dy, const Tensor& in, const Tensor& gamma,
                       const Tensor& mean, const Tensor& std, const Tensor& dx,
                       const Tensor& dgamma, const Tensor& dbeta, KernelContext& context) {
  if (gamma.size() == 0) return;  // then the data has no elements either
  if (const GpuTable* gpu = gpu_table(context))
    return gpu->row_norm_slope(context.stream()->native(), norm, dy, in, gamma, dx, dgamma, dbeta,
                               context);
  with_row_type(in.dtype, [&](auto zero) {
    using C = decltype(zero);
    if (norm.groups == 0) {
      backward_each<C>(norm, dy, in, gamma, mean, std, dx, dgamma, dbeta, context);
    } else {
      backward_groups<C>(norm, dy, in, gamma, mean, std, dx, dgamma, dbeta, context);
    }
  });
}

}  // namespace mxnet
