// SPDX-License-Identifier: Apache-2.0
// Gradients of LayerNorm, GroupNorm and InstanceNorm: of the data, row by row, and of the
// parameters, summed up over rows in a fixed order.
#include "plugin/cuda/primitives.h"
#include "plugin/cuda/row_norm.cuh"

namespace mxnet {
namespace cuda {
namespace {

using namespace row_norms;  // NOLINT(google-build-using-namespace)

// Sums of the gradient, and of it times the deviation, of a row.
template <class T>
struct FindSums {
  using C = Compute<T>;
  const T *dy, *x, *gamma;  // gamma null: sums without factors
  const Pair<C>* moments;
  Pair<C>* sums;
  Lines rows;
  MX_DEVICE Pair<C> part(int64_t row, int lane, int lanes) const {
    constexpr int kAtOnce = 4;  // loads of each array on their way together
    Pair<C> sum{C(0), C(0)};
    const int64_t first = rows.first(row);
    const C mean = moments[row].a;
    int64_t k = lane;
    for (; k + (kAtOnce - 1) * lanes < rows.length; k += kAtOnce * lanes) {
      C slopes[kAtOnce], values[kAtOnce];
#pragma unroll
      for (int e = 0; e < kAtOnce; ++e) {
        slopes[e] = slope(first, k + e * lanes);
        values[e] = widen(x[first + (k + e * lanes) * rows.inner]);
      }
#pragma unroll
      for (int e = 0; e < kAtOnce; ++e)
        sum = added(sum, {slopes[e], slopes[e] * (values[e] - mean)});
    }
    for (; k < rows.length; k += lanes) {
      const C g = slope(first, k);
      sum = added(sum, {g, g * (widen(x[first + k * rows.inner]) - mean)});
    }
    return sum;
  }
  MX_DEVICE C slope(int64_t first, int64_t k) const {
    const C g = widen(dy[first + k * rows.inner]);
    return gamma == nullptr ? g : g * widen(gamma[k]);
  }
  MX_DEVICE Pair<C> merge(Pair<C> a, Pair<C> b) const { return added(a, b); }
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
    const C shared = parameter.of_places() ? C(1) : factor;
    const C deviation = (widen(x[i]) - m.a) * m.b;
    const C slope = widen(dy[i]) * factor - shared * (sum.a + deviation * m.b * sum.b) / n;
    dx[i] = narrow<T>(slope * m.b);
  }
};

// The same of rows that a group of threads holds, with a parameter for each place.
template <class T>
struct HeldSlope {
  using C = Compute<T>;
  struct Held {
    HeldRow<T> dy, x;
  };
  const T *dy, *x, *gamma;
  T* dx;
  const Pair<C>* moments;
  int64_t length;
  bool aligned;

  MX_DEVICE Pair<C> take(int64_t row, int lane, int lanes, Held* held) const {
    const int n = static_cast<int>(length);
    held->dy.load(dy + row * length, n, lane, lanes, aligned);
    held->x.load(x + row * length, n, lane, lanes, aligned);
    const C mean = moments[row].a;
    Pair<C> sum{C(0), C(0)};
#pragma unroll
    for (int pack = 0; pack < HeldRow<T>::kPacks; ++pack) {
#pragma unroll
      for (int k = 0; k < HeldRow<T>::kSize; ++k) {
        const int place = HeldRow<T>::first_of(pack, lane, lanes) + k;
        if (place >= n) continue;
        const C g = held->dy.at(pack, k) * widen(gamma[place]);
        sum = added(sum, {g, g * (held->x.at(pack, k) - mean)});
      }
    }
    return sum;
  }
  MX_DEVICE Pair<C> merge(Pair<C> a, Pair<C> b) const { return added(a, b); }
  MX_DEVICE void give(int64_t row, int lane, int lanes, const Held& held, Pair<C> sum) const {
    const Pair<C> m = moments[row];
    const C each = C(1) / static_cast<C>(length);
    const C constant = sum.a * each, factor = m.b * m.b * sum.b * each;
    HeldRow<T>::store(dx + row * length, static_cast<int>(length), lane, lanes, aligned,
                      [&](int pack, int k, int place) {
                        const C slope = held.dy.at(pack, k) * widen(gamma[place]) - constant -
                                        (held.x.at(pack, k) - m.a) * factor;
                        return slope * m.b;
                      });
  }
};

// Parameters for each place: sums over the rows of one portion.
template <class T>
struct PlaceSums {
  using C = Compute<T>;
  const T *dy, *x;
  const Pair<C>* moments;
  Pair<C>* partial;  // portion by portion
  Lines rows;
  Divider length;
  int64_t count, portions;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t portion = length.quotient(i), place = i - portion * length.by();
    Pair<C> sum{C(0), C(0)};
#pragma unroll 4
    for (int64_t row = portion; row < count; row += portions) {
      const int64_t at = rows.first(row) + place * rows.inner;
      const C g = widen(dy[at]);
      const Pair<C> m = moments[row];
      sum = added(sum, {g, g * (widen(x[at]) - m.a) * m.b});
    }
    partial[i] = sum;
  }
};
// As many portions as keep the device busy; a thread that sums up fewer rows is not worth its
// place.
int64_t portions_of(int64_t rows, int64_t length) {
  constexpr int64_t kBusy = int64_t{1} << 18, kLeast = 16;
  const int64_t wanted = length == 0 ? 1 : kBusy / length, most = rows / kLeast;
  const int64_t portions = wanted < most ? wanted : most;
  return portions < 1 ? 1 : portions;
}

// dbeta and dgamma of parameter i out of every `step`-th of `count` sums.
template <class T>
struct ParameterSlope {
  using C = Compute<T>;
  const Pair<C>* sums;
  const Pair<C>* moments;  // of the rows that sums are of; null: they are normalised already
  T *dgamma, *dbeta;
  int64_t count, step;
  MX_DEVICE Pair<C> part(int64_t i, int lane, int lanes) const {
    Pair<C> total{C(0), C(0)};
    for (int64_t k = i + lane * step; k < count; k += lanes * step)
      total = added(total, {sums[k].a, moments == nullptr ? sums[k].b : sums[k].b * moments[k].b});
    return total;
  }
  MX_DEVICE Pair<C> merge(Pair<C> a, Pair<C> b) const { return added(a, b); }
  MX_DEVICE void finish(int64_t i, Pair<C> total) const {
    dbeta[i] = narrow<T>(total.a);
    dgamma[i] = narrow<T>(total.b);
  }
};

}  // namespace

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
    for_each_group(
        stream, "row_moments", count, rows.length >= kLongRow,
        FindMoments<T>{x.as<T>(), moments, nullptr, nullptr, rows, static_cast<C>(norm.eps)});
    // The parameters' come before the gradient of the data, which may lie where dy or x does.
    if (each) {
      const int64_t portions = portions_of(count, rows.length);
      auto* partial = context.workspace_of<Pair<C>>(portions * rows.length);
      for_each(stream, "place_sums", portions * rows.length,
               PlaceSums<T>{dy.as<T>(), x.as<T>(), moments, partial, rows, Divider(rows.length),
                            count, portions});
      for_each_group(stream, "parameter_slope", rows.length, portions >= kLongRow,
                     ParameterSlope<T>{partial, nullptr, dgamma.as<T>(), dbeta.as<T>(),
                                       portions * rows.length, rows.length});
      if constexpr (kMayHold<T>) {
        if (is_held(rows)) {
          for_each_held(
              stream, "row_norm_slope", count, held_lanes(rows.length),
              HeldSlope<T>{dy.as<T>(), x.as<T>(), gamma.as<T>(), dx.as<T>(), moments, rows.length,
                           packs_are_aligned<T>(rows.length, dy.as<T>(), x.as<T>(), dx.as<T>())});
          return;
        }
      }
    }
    auto* sums = context.workspace_of<Pair<C>>(count);
    for_each_group(
        stream, "row_sums", count, rows.length >= kLongRow,
        FindSums<T>{dy.as<T>(), x.as<T>(), each ? gamma.as<T>() : nullptr, moments, sums, rows});
    if (!each)
      for_each_group(
          stream, "parameter_slope", norm.groups, count >= kLongRow * norm.groups,
          ParameterSlope<T>{sums, moments, dgamma.as<T>(), dbeta.as<T>(), count, norm.groups});
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
