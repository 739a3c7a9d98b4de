// SPDX-License-Identifier: Apache-2.0
// LayerNorm, GroupNorm and InstanceNorm: a group of threads finds what a row has in common, then
// every element is computed by itself. Rows that a group can hold are read once.
#include "plugin/cuda/row_norm.cuh"

#include "plugin/cuda/primitives.h"

namespace mxnet {
namespace cuda {
namespace {

using namespace row_norms;  // NOLINT(google-build-using-namespace)

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

template <class T>
struct HeldNorm {
  using C = Compute<T>;
  using Held = HeldRow<T>;
  const T *x, *gamma, *beta;
  T *y, *mean, *std;
  int64_t length;
  Parameter parameter;
  C eps;
  bool aligned;

  MX_DEVICE Moments<C> take(int64_t row, int lane, int lanes, Held* held) const {
    const int n = static_cast<int>(length);
    held->load(x + row * length, n, lane, lanes, aligned);
    Moments<C> m{C(0), C(0), C(0)};
    held->each(n, lane, lanes, [&](int, C value) {
      m.count += C(1);
      m.mean += value;
    });
    if (m.count == C(0)) return m;
    m.mean /= m.count;
    held->each(n, lane, lanes,
               [&](int, C value) { m.squares += (value - m.mean) * (value - m.mean); });
    return m;
  }
  MX_DEVICE Moments<C> merge(Moments<C> a, Moments<C> b) const { return merged(a, b); }
  MX_DEVICE void give(int64_t row, int lane, int lanes, const Held& held, Moments<C> all) const {
    const Pair<C> m = all.pair(eps);
    const bool of_places = parameter.of_places();
    const int64_t of_row = of_places ? 0 : parameter.of_row(row);
    Held::store(y + row * length, static_cast<int>(length), lane, lanes, aligned,
                [&](int pack, int k, int place) {
                  const int64_t p = of_places ? place : of_row;
                  return (held.at(pack, k) - m.a) * m.b * widen(gamma[p]) + widen(beta[p]);
                });
    if (lane != 0) return;
    mean[row] = narrow<T>(m.a);
    std[row] = narrow<T>(all.root(eps));
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
    const C eps = static_cast<C>(norm.eps);
    if constexpr (kMayHold<T>) {
      if (is_held(rows)) {
        for_each_held(stream, "row_norm", count, held_lanes(rows.length),
                      HeldNorm<T>{x.as<T>(),
                                  gamma.as<T>(),
                                  beta.as<T>(),
                                  y.as<T>(),
                                  mean.as<T>(),
                                  std.as<T>(),
                                  rows.length,
                                  {rows, norm.groups},
                                  eps,
                                  packs_are_aligned<T>(rows.length, x.as<T>(), y.as<T>())});
        return;
      }
    }
    auto* moments = context.workspace_of<Pair<C>>(count);
    for_each_group(stream, "row_moments", count, rows.length >= kLongRow,
                   FindMoments<T>{x.as<T>(), moments, mean.as<T>(), std.as<T>(), rows, eps});
    for_each(
        stream, "row_norm", x.size(),
        Normalize<T>{
            x.as<T>(), gamma.as<T>(), beta.as<T>(), y.as<T>(), moments, rows, {rows, norm.groups}});
  });
}

}  // namespace cuda
}  // namespace mxnet
