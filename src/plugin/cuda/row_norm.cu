// SPDX-License-Identifier: Apache-2.0
// LayerNorm, GroupNorm and InstanceNorm (op/norm/row_norm.h) and their gradients: a group of
// threads finds what a row has in common, then every element is computed by itself.
#include "op/norm/row_norm.h"

#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/lines.cuh"
#include "plugin/cuda/primitives.h"

namespace mxnet {
namespace cuda {
namespace {

constexpr int64_t kWide = 1024;    // rows from here on are a block's, shorter ones a warp's
constexpr int64_t kPortions = 64;  // of rows, whose sums are kept apart

// Mean and inverse of the deviation; sums of a row's gradient.
template <class C>
struct Pair {
  C a, b;
};

// Count, mean and sum of squared deviations, so far.
template <class C>
struct Moments {
  C count, mean, squares;
};

template <class T>
struct FindMoments {
  using C = Compute<T>;
  const T* x;
  Pair<C>* found;
  T *mean, *std;  // null: not wanted
  Lines rows;
  C eps;
  MX_DEVICE Moments<C> part(int64_t row, int lane, int lanes) const {
    Moments<C> m{C(0), C(0), C(0)};
    const int64_t first = rows.first(row);
    for (int64_t k = lane; k < rows.length; k += lanes) {
      const C value = widen(x[first + k * rows.inner]), delta = value - m.mean;
      m.count += C(1);
      m.mean += delta / m.count;
      m.squares += delta * (value - m.mean);
    }
    return m;
  }
  MX_DEVICE Moments<C> merge(Moments<C> a, Moments<C> b) const {
    if (a.count == C(0)) return b;
    if (b.count == C(0)) return a;
    const C count = a.count + b.count, delta = b.mean - a.mean, share = b.count / count;
    return {count, a.mean + delta * share, a.squares + b.squares + delta * delta * a.count * share};
  }
  MX_DEVICE void finish(int64_t row, Moments<C> m) const {
    const C root = row_words::sqrt(m.squares / m.count + eps);
    found[row] = {m.mean, C(1) / root};
    if (mean == nullptr) return;
    mean[row] = narrow<T>(m.mean);
    std[row] = narrow<T>(root);
  }
};

// Which of the parameters an element meets.
struct Parameter {
  Lines rows;
  int64_t groups;
  MX_DEVICE int64_t operator()(int64_t i) const {
    return groups == 0 ? rows.place_of(i) : rows.line_of(i) % groups;
  }
};

template <class T>
struct Normalize {
  using C = Compute<T>;
  const T *x, *gamma, *beta;
  T* y;
  const Pair<C>* moments;
  Lines rows;
  Parameter parameter;
  MX_DEVICE void operator()(int64_t i) const {
    const Pair<C> m = moments[rows.line_of(i)];
    const int64_t p = parameter(i);
    y[i] = narrow<T>((widen(x[i]) - m.a) * m.b * widen(gamma[p]) + widen(beta[p]));
  }
};

// Sums of the gradient, and of it times the deviation, of a row.
template <class T>
struct FindSums {
  using C = Compute<T>;
  const T *dy, *x, *gamma;  // gamma null: sums without factors
  const Pair<C>* moments;
  Pair<C>* sums;
  Lines rows;
  MX_DEVICE Pair<C> part(int64_t row, int lane, int lanes) const {
    Pair<C> sum{C(0), C(0)};
    const int64_t first = rows.first(row);
    const C mean = moments[row].a;
    for (int64_t k = lane; k < rows.length; k += lanes) {
      const int64_t at = first + k * rows.inner;
      const C g = gamma == nullptr ? widen(dy[at]) : widen(dy[at]) * widen(gamma[k]);
      sum.a += g;
      sum.b += g * (widen(x[at]) - mean);
    }
    return sum;
  }
  MX_DEVICE Pair<C> merge(Pair<C> a, Pair<C> b) const { return {a.a + b.a, a.b + b.b}; }
  MX_DEVICE void finish(int64_t row, Pair<C> sum) const { sums[row] = sum; }
};

template <class T>
struct DataSlope {
  using C = Compute<T>;
  const T *dy, *x, *gamma;
  T* dx;
  const Pair<C>*moments, *sums;
  Lines rows;
  Parameter parameter;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t row = rows.line_of(i);
    const Pair<C> m = moments[row], sum = sums[row];
    const C n = static_cast<C>(rows.length), factor = widen(gamma[parameter(i)]);
    // Sums of rows that share a parameter have been taken without it.
    const C shared = parameter.groups == 0 ? C(1) : factor;
    const C deviation = (widen(x[i]) - m.a) * m.b;
    const C slope = widen(dy[i]) * factor - shared * (sum.a + deviation * m.b * sum.b) / n;
    dx[i] = narrow<T>(slope * m.b);
  }
};

// Parameters for each element: sums over the rows of one portion, for each place in a row.
template <class T>
struct PlaceSums {
  using C = Compute<T>;
  const T *dy, *x;
  const Pair<C>* moments;
  Pair<C>* partial;
  Lines rows;
  int64_t count;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t place = i % rows.length;
    Pair<C> sum{C(0), C(0)};
    for (int64_t row = i / rows.length; row < count; row += kPortions) {
      const int64_t at = rows.first(row) + place * rows.inner;
      const C g = widen(dy[at]);
      sum.a += g;
      sum.b += g * (widen(x[at]) - moments[row].a) * moments[row].b;
    }
    partial[i] = sum;
  }
};

// dbeta and dgamma of parameter i out of every `step`-th of `count` sums.
template <class T>
struct ParameterSlope {
  using C = Compute<T>;
  const Pair<C>* sums;
  const Pair<C>* moments;  // of the rows that sums are of; null: they are normalised already
  T *dgamma, *dbeta;
  int64_t count, step;
  MX_DEVICE void operator()(int64_t i) const {
    Pair<C> total{C(0), C(0)};
    for (int64_t k = i; k < count; k += step) {
      total.a += sums[k].a;
      total.b += moments == nullptr ? sums[k].b : sums[k].b * moments[k].b;
    }
    dbeta[i] = narrow<T>(total.a);
    dgamma[i] = narrow<T>(total.b);
  }
};

}  // namespace

void row_norm(NativeStream* stream, const RowNorm& norm, const Tensor& x, const Tensor& gamma,
              const Tensor& beta, const Tensor& y, const Tensor& mean, const Tensor& std,
              KernelContext& context) {
  const Lines rows{norm.rows.length, norm.rows.inner};
  const int64_t count = norm.rows.rows();
  for_dtype<kFloating.bits_>(x.dtype, "row_norm", [&](auto type) {
    using T = decltype(type);
    using C = Compute<T>;
    auto* moments = context.workspace_of<Pair<C>>(count);
    for_each_group(stream, "row_moments", count, rows.length >= kWide,
                   FindMoments<T>{x.as<T>(), moments, mean.as<T>(), std.as<T>(), rows,
                                  static_cast<C>(norm.eps)});
    for_each(
        stream, "row_norm", x.size(),
        Normalize<T>{
            x.as<T>(), gamma.as<T>(), beta.as<T>(), y.as<T>(), moments, rows, {rows, norm.groups}});
  });
}

void row_norm_slope(NativeStream* stream, const RowNorm& norm, const Tensor& dy, const Tensor& x,
                    const Tensor& gamma, const Tensor& dx, const Tensor& dgamma,
                    const Tensor& dbeta, KernelContext& context) {
  const Lines rows{norm.rows.length, norm.rows.inner};
  const int64_t count = norm.rows.rows();
  const bool each = norm.groups == 0;
  for_dtype<kFloating.bits_>(x.dtype, "row_norm", [&](auto type) {
    using T = decltype(type);
    using C = Compute<T>;
    auto* moments = context.workspace_of<Pair<C>>(count);
    auto* sums = context.workspace_of<Pair<C>>(count);
    for_each_group(
        stream, "row_moments", count, rows.length >= kWide,
        FindMoments<T>{x.as<T>(), moments, nullptr, nullptr, rows, static_cast<C>(norm.eps)});
    for_each_group(
        stream, "row_sums", count, rows.length >= kWide,
        FindSums<T>{dy.as<T>(), x.as<T>(), each ? gamma.as<T>() : nullptr, moments, sums, rows});
    // Before the gradient of the data, which may lie where dy or x does.
    if (each) {
      auto* partial = context.workspace_of<Pair<C>>(kPortions * rows.length);
      for_each(stream, "place_sums", kPortions * rows.length,
               PlaceSums<T>{dy.as<T>(), x.as<T>(), moments, partial, rows, count});
      for_each(stream, "parameter_slope", rows.length,
               ParameterSlope<T>{partial, nullptr, dgamma.as<T>(), dbeta.as<T>(),
                                 kPortions * rows.length, rows.length});
    } else {
      for_each(stream, "parameter_slope", norm.groups,
               ParameterSlope<T>{sums, moments, dgamma.as<T>(), dbeta.as<T>(), count, norm.groups});
    }
    for_each(stream, "row_norm_slope", dx.size(),
             DataSlope<T>{dy.as<T>(),
                          x.as<T>(),
                          gamma.as<T>(),
                          dx.as<T>(),
                          moments,
                          sums,
                          rows,
                          {rows, norm.groups}});
  });
}

}  // namespace cuda
}  // namespace mxnet
