// SPDX-License-Identifier: Apache-2.0
// Softmax and its gradient along rows of any layout: a group of threads finds what a row has in
// common (in one pass: the largest element so far and the sum of exponentials below it), then every
// element is computed by itself. Rows that a group can hold are read once (softmax_held.cuh).
#include "op/norm/softmax_kernel.h"

#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/lines.cuh"
#include "plugin/cuda/peak.cuh"
#include "plugin/cuda/primitives.h"
#include "plugin/cuda/softmax_held.cuh"

namespace mxnet {
namespace cuda {
namespace {

// How a row's elements lie, and how many of them take part.
struct Rows : Lines {
  UsedLengths used;
};
Rows rows_of(const SoftmaxCall& call) {
  Rows rows{{call.rows.length, call.rows.inner}, {call.rows.length, nullptr, nullptr}};
  if (call.lengths != nullptr && call.lengths->dtype == DType::kInt64)
    rows.used.lengths64 = call.lengths->as<int64_t>();
  else if (call.lengths != nullptr)
    rows.used.lengths32 = call.lengths->as<int32_t>();
  return rows;
}

// Of scaled elements.
template <class T, class C>
struct FindPeak {
  const T* x;
  Peak<C>* peaks;
  Rows rows;
  C scale;
  MX_DEVICE Peak<C> part(int64_t row, int lane, int lanes) const {
    Peak<C> peak{-static_cast<C>(INFINITY), C(0)};
    const int64_t first = rows.first(row), n = rows.used(row);
    for (int64_t k = lane; k < n; k += lanes)
      peak = merge(peak, {static_cast<C>(widen(x[first + k * rows.inner])) * scale, C(1)});
    return peak;
  }
  MX_DEVICE Peak<C> merge(Peak<C> a, Peak<C> b) const { return joined(a, b); }
  MX_DEVICE void finish(int64_t row, Peak<C> peak) const { peaks[row] = peak; }
};

template <class T, class Out, class C>
struct Forward {
  const T* x;
  Out* y;
  const Peak<C>* peaks;
  Rows rows;
  C scale;
  bool log;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t row = rows.line_of(i), k = rows.place_of(i);
    if (k >= rows.used(row)) {
      y[i] = narrow<Out>(C(0));
      return;
    }
    const C shifted = static_cast<C>(widen(x[i])) * scale - peaks[row].top;
    y[i] = narrow<Out>(log ? shifted - row_words::log(peaks[row].sum)
                           : row_words::exp(shifted) / peaks[row].sum);
  }
};

// The sum of dy (log) or of dy * y along a row.
template <class T, class C>
struct FindDot {
  const T *dy, *y;
  C* dots;
  Rows rows;
  bool log;
  MX_DEVICE C part(int64_t row, int lane, int lanes) const {
    C sum(0);
    const int64_t first = rows.first(row), n = rows.used(row);
    for (int64_t k = lane; k < n; k += lanes) {
      const int64_t at = first + k * rows.inner;
      const C g = static_cast<C>(widen(dy[at]));
      sum += log ? g : g * static_cast<C>(widen(y[at]));
    }
    return sum;
  }
  MX_DEVICE C merge(C a, C b) const { return a + b; }
  MX_DEVICE void finish(int64_t row, C sum) const { dots[row] = sum; }
};

template <class T, class Out, class C>
struct Backward {
  const T *dy, *y;
  Out* dx;
  const C* dots;
  Rows rows;
  C scale;
  bool log;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t row = rows.line_of(i), k = rows.place_of(i);
    const C g = static_cast<C>(widen(dy[i])), p = static_cast<C>(widen(y[i]));
    const C slope = log ? g - row_words::exp(p) * dots[row] : (g - dots[row]) * p;
    dx[i] = narrow<Out>(k < rows.used(row) ? slope * scale : C(0));
  }
};

// fn(element type of a, element type of b, type to compute in).
template <class F>
void for_types(DType a, DType b, const F& fn) {
  for_dtype<kFloating.bits_>(a, "softmax", [&](auto a_type) {
    for_dtype<kFloating.bits_>(b, "softmax", [&](auto b_type) {
      constexpr bool kDouble =
          std::is_same_v<decltype(a_type), double> || std::is_same_v<decltype(b_type), double>;
      fn(a_type, b_type, std::conditional_t<kDouble, double, float>{});
    });
  });
}

}  // namespace

void softmax(NativeStream* stream, const SoftmaxCall& call, const Tensor& x, const Tensor& y,
             KernelContext& context) {
  const Rows rows = rows_of(call);
  const int64_t count = call.rows.rows();
  for_types(x.dtype, y.dtype, [&](auto in, auto out, auto compute) {
    using T = decltype(in);
    using Out = decltype(out);
    using C = decltype(compute);
    const bool log = call.kind == SoftmaxKind::kLog;
    if constexpr (kMayHold<T, Out>) {
      if (is_held(rows)) {
        for_each_held(
            stream, "softmax", count, held_lanes(rows.length),
            HeldSoftmax<T>{x.as<T>(), y.as<T>(), rows.used, static_cast<float>(call.scale), log,
                           packs_are_aligned<T>(rows.length, x.as<T>(), y.as<T>())});
        return;
      }
    }
    auto* peaks = context.workspace_of<Peak<C>>(count);
    const C scale = static_cast<C>(call.scale);
    for_each_group(stream, "softmax_peaks", count, rows.length >= kLongRow,
                   FindPeak<T, C>{x.as<T>(), peaks, rows, scale});
    for_each(stream, "softmax", y.size(),
             Forward<T, Out, C>{x.as<T>(), y.as<Out>(), peaks, rows, scale, log});
  });
}

void softmax_slope(NativeStream* stream, const SoftmaxCall& call, const Tensor& dy, const Tensor& y,
                   const Tensor& dx, KernelContext& context) {
  const Rows rows = rows_of(call);
  const int64_t count = call.rows.rows();
  const bool log = call.kind == SoftmaxKind::kLog;
  for_types(y.dtype, dx.dtype, [&](auto in, auto out, auto compute) {
    using T = decltype(in);
    using Out = decltype(out);
    using C = decltype(compute);
    if constexpr (kMayHold<T, Out>) {
      if (is_held(rows)) {
        for_each_held(
            stream, "softmax_slope", count, held_lanes(rows.length),
            HeldSoftmaxSlope<T>{
                dy.as<T>(), y.as<T>(), dx.as<T>(), rows.used, static_cast<float>(call.scale), log,
                packs_are_aligned<T>(rows.length, dy.as<T>(), y.as<T>(), dx.as<T>())});
        return;
      }
    }
    auto* dots = context.workspace_of<C>(count);
    for_each_group(stream, "softmax_dots", count, rows.length >= kLongRow,
                   FindDot<T, C>{dy.as<T>(), y.as<T>(), dots, rows, log});
    for_each(stream, "softmax_slope", dx.size(),
             Backward<T, Out, C>{dy.as<T>(), y.as<T>(), dx.as<Out>(), dots, rows,
                                 static_cast<C>(call.scale), log});
  });
}

}  // namespace cuda
}  // namespace mxnet
