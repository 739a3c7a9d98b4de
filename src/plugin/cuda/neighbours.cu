// SPDX-License-Identifier: Apache-2.0
// Kernels of operators that compare what is near: Correlation (displaced patches of two images) and
// LRN (channels beside each other).
#include "op/norm/lrn.h"
#include "op/spatial/correlation.h"
#include "plugin/cuda/axes.h"
#include "plugin/cuda/computed.cuh"
#include "plugin/cuda/families.h"
#include "plugin/cuda/scatter.cuh"

namespace mxnet {
namespace cuda {
namespace {

// A number of the result: image, displacement, line, column.
template <class T>
struct Correlate {
  CorrelationGeometry g;
  const T *a, *b;
  T* out;
  T weight;
  Axes<4> axes;
  MX_DEVICE void operator()(int64_t o) const {
    const Coordinates<4> at = axes(o);
    T sum = 0;
    for (int64_t c = 0; c < g.channels; ++c) {
      const int64_t plane = (at[0] * g.channels + c) * g.height * g.width;
      g.pairs(at[1], at[2], at[3], [&](int64_t i, int64_t j) {
        sum += g.agreement(g.value(a + plane, i), g.value(b + plane, j));
      });
    }
    out[o] = sum * weight;
  }
};
// Numbered by plane of the images, displacement, line, column: sums belong to the plane.
template <class T>
struct CorrelateSlope {
  CorrelationGeometry g;
  const T *dout, *a, *b;
  T *da, *db;
  T weight;
  Axes<4> axes;
  MX_DEVICE void operator()(int64_t number) const {
    const Coordinates<4> at = axes(number);
    const int64_t image = at[0] / g.channels, plane = at[0] * g.height * g.width;
    const int64_t from =
        ((image * axes.size(1) + at[1]) * g.out_height + at[2]) * g.out_width + at[3];
    const T d = dout[from] * weight;
    g.pairs(at[1], at[2], at[3], [&](int64_t i, int64_t j) {
      const T x = g.value(a + plane, i), y = g.value(b + plane, j);
      if (i >= 0) atomic_add(da + plane + i, d * g.slope_a(x, y));
      if (j >= 0) atomic_add(db + plane + j, d * g.slope_b(x, y));
    });
  }
};

void correlation(const CorrelationParams& params, KernelContext& context) {
  const CorrelationGeometry g(params, context.in(0).shape());
  compute(context.in(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    for_each(arrays.stream(), "Correlation", context.out(0).size(),
             Correlate<T>{g, arrays.in(0), arrays.in(1), arrays.out(0), static_cast<T>(g.weight()),
                          Axes<4>(g.batch, g.out_channels(), g.out_height, g.out_width)});
  });
}

// Inputs: gradient of the output, data1, data2.
void correlation_slope(const CorrelationParams& params, KernelContext& context) {
  const CorrelationGeometry g(params, context.in(1).shape());
  compute(context.in(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    const int64_t planes = g.batch * g.channels;
    const Axes<4> axes(planes, g.out_channels(), g.out_height, g.out_width);
    T *const da = arrays.zeroed_out(0), *const db = arrays.zeroed_out(1);
    scatter(arrays.stream(), "Correlation", planes, planes == 0 ? 0 : axes.size() / planes,
            CorrelateSlope<T>{g, arrays.in(0), arrays.in(1), arrays.in(2), da, db,
                              static_cast<T>(g.weight()), axes});
  });
}

// Channels beside each other lie `inner` apart; a number is example, channel, position.
struct Channels {
  Axes<3> axes;
  int64_t reach;
  explicit Channels(const LrnParams& params, const Shape& shape)
      : axes(shape[0], shape[1], shape[2] * shape[3]), reach(params.reach()) {}
  // The sum of fn(number) over the neighbours of a number.
  template <class C, class F>
  MX_DEVICE C sum(int64_t i, const F& fn) const {
    const int64_t channel = axes(i)[1], inner = axes.size(2), count = axes.size(1);
    const int64_t first = channel < reach ? 0 : channel - reach;
    const int64_t last = channel + reach < count ? channel + reach : count - 1;
    C result = 0;
    for (int64_t c = first; c <= last; ++c) result += fn(i + (c - channel) * inner);
    return result;
  }
};
template <class T>
struct Response {
  using C = Compute<T>;
  Channels channels;
  const T* x;
  T *y, *norm;
  C knorm, alpha, beta;
  MX_DEVICE void operator()(int64_t i) const {
    const C squares = channels.sum<C>(i, [&](int64_t k) {
      const C value = widen(x[k]);
      return value * value;
    });
    const C v = knorm + alpha * squares;
    norm[i] = narrow<T>(v);
    y[i] = narrow<T>(widen(x[i]) * row_words::exp(-beta * row_words::log(v)));
  }
};
template <class T>
struct ResponseSlope {
  using C = Compute<T>;
  Channels channels;
  const T *dy, *x, *norm;
  T* dx;
  C beta, factor;
  MX_DEVICE void operator()(int64_t i) const {
    const C shares = channels.sum<C>(i, [&](int64_t k) {
      return widen(dy[k]) * widen(x[k]) *
             row_words::exp((-beta - C(1)) * row_words::log(widen(norm[k])));
    });
    dx[i] = narrow<T>(widen(dy[i]) * row_words::exp(-beta * row_words::log(widen(norm[i]))) -
                      factor * widen(x[i]) * shares);
  }
};

void lrn(const LrnParams& params, KernelContext& context) {
  const Tensor& in = context.in(0);
  for_dtype<kFloating.bits_>(in.dtype, "LRN", [&](auto element) {
    using T = decltype(element);
    using C = Compute<T>;
    for_each(context.stream()->native(), "LRN", in.size(),
             Response<T>{Channels(params, in.shape()), in.as<T>(), context.out(0).as<T>(),
                         context.out(1).as<T>(), static_cast<C>(params.knorm),
                         static_cast<C>(params.alpha) / static_cast<C>(params.nsize),
                         static_cast<C>(params.beta)});
  });
}

// Inputs: gradient, data, norm. The result may lie where the gradient does, whose neighbours are
// read: then it is written elsewhere first.
void lrn_slope(const LrnParams& params, KernelContext& context) {
  const Tensor &dy = context.in(0), &dx = context.out(0);
  for_dtype<kFloating.bits_>(dx.dtype, "LRN", [&](auto element) {
    using T = decltype(element);
    using C = Compute<T>;
    const C beta = static_cast<C>(params.beta);
    const C factor = C(2) * static_cast<C>(params.alpha) * beta / static_cast<C>(params.nsize);
    Tensor to = dx;
    if (dy.data == dx.data) to.data = context.workspace_of<T>(dx.size());
    for_each(context.stream()->native(), "LRN", dx.size(),
             ResponseSlope<T>{Channels(params, dx.shape()), dy.as<T>(), context.in(1).as<T>(),
                              context.in(2).as<T>(), to.as<T>(), beta, factor});
    if (to.data != dx.data) convert(context.stream()->native(), to, dx);
  });
}

}  // namespace

void add_neighbours(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<CorrelationParams, correlation>("Correlation"));
  rows->push_back(kernel_row<CorrelationParams, correlation_slope>("_backward_Correlation"));
  rows->push_back(kernel_row<LrnParams, lrn>("LRN"));
  rows->push_back(kernel_row<LrnParams, lrn_slope>("_backward_LRN"));
}

}  // namespace cuda
}  // namespace mxnet
