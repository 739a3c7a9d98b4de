// SPDX-License-Identifier: Apache-2.0
// Kernels of batch normalisation (op/norm/batch_norm_kernel.h). Channels are few and long: each is
// cut into slices whose sums are taken by blocks of their own and merged in a fixed order.
#include "op/norm/batch_norm_kernel.h"

#include "plugin/cuda/elements.cuh"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/primitives.h"
#include "plugin/cuda/walk.h"

namespace mxnet {
namespace cuda {
namespace {

constexpr int64_t kSlices = 2048;      // of all channels: some blocks for each multiprocessor
constexpr int64_t kLeastSlice = 4096;  // positions

// Element p of channel c lies at (p / inner * length + c) * inner + p % inner.
struct Channels {
  int64_t length, positions, slices, slice;
  Divider inner;

  explicit Channels(const BatchNormCall& call)
      : length(call.channels.length), positions(call.positions()), inner(call.channels.inner) {
    const int64_t wanted = length == 0 ? 1 : (kSlices + length - 1) / length;
    const int64_t most = (positions + kLeastSlice - 1) / kLeastSlice;
    slices = wanted < most ? wanted : most < 1 ? 1 : most;
    slice = (positions + slices - 1) / slices;
  }
  MX_DEVICE int64_t at(int64_t c, int64_t p) const {
    const int64_t outer = inner.quotient(p);
    return (outer * length + c) * inner.by() + p - outer * inner.by();
  }
};

// Number, mean and sum of squared distances of what was seen (Welford).
template <class C>
struct Moments {
  C count, mean, squares;
  MX_DEVICE void add(C x) {
    count += C(1);
    const C distance = x - mean;
    mean += distance / count;
    squares += distance * (x - mean);
  }
  MX_DEVICE static Moments merged(const Moments& a, const Moments& b) {
    const C count = a.count + b.count;
    if (count == C(0)) return a;
    const C distance = b.mean - a.mean, share = b.count / count;
    return {count, a.mean + distance * share,
            a.squares + b.squares + distance * distance * a.count * share};
  }
};

// Of slice s of channel c, i = c * slices + s.
template <class T, class C>
struct SliceMoments {
  using V = Moments<C>;
  Channels channels;
  const T* x;
  V* out;
  MX_DEVICE V part(int64_t i, int lane, int lanes) const {
    const int64_t c = i / channels.slices, first = (i - c * channels.slices) * channels.slice;
    const int64_t end = first + channels.slice;
    V value{C(0), C(0), C(0)};
    for (int64_t p = first + lane; p < end && p < channels.positions; p += lanes)
      value.add(static_cast<C>(widen(x[channels.at(c, p)])));
    return value;
  }
  MX_DEVICE V merge(const V& a, const V& b) const { return V::merged(a, b); }
  MX_DEVICE void finish(int64_t i, const V& value) const { out[i] = value; }
};

// Statistics of a channel: those of its slices, or the moving ones. P is the type of parameters.
template <class P>
struct Settle {
  Channels channels;
  const Moments<P>* slices;  // null: moving
  const P *moving_mean, *moving_var;
  P *gamma, *mean, *spread;
  P* inverse_std;
  P eps;
  bool fix_gamma, spread_is_variance;
  MX_DEVICE void operator()(int64_t c) const {
    P m, variance;
    if (slices != nullptr) {
      Moments<P> all{P(0), P(0), P(0)};
      for (int64_t s = 0; s < channels.slices; ++s)
        all = Moments<P>::merged(all, slices[c * channels.slices + s]);
      m = all.mean;
      variance = all.count > P(0) ? all.squares / all.count : P(0);
    } else {
      m = moving_mean[c];
      variance = moving_var[c];
    }
    const P inverse = P(1) / row_words::sqrt(variance + eps);
    if (fix_gamma) gamma[c] = P(1);
    mean[c] = m;
    spread[c] = spread_is_variance ? variance : inverse;
    inverse_std[c] = inverse;
  }
};

template <class T, class P>
struct Normalize {
  const T* x;
  T* y;
  uint8_t* mask;
  const P *mean, *inverse_std, *gamma, *beta;
  Divider inner, length;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t row = inner.quotient(i), c = row - length.quotient(row) * length.by();
    P value = (static_cast<P>(widen(x[i])) - mean[c]) * inverse_std[c] * gamma[c] + beta[c];
    if (mask != nullptr) {
      mask[i] = value > P(0);
      value = value > P(0) ? value : P(0);
    }
    y[i] = narrow<T>(value);
  }
};

// Sums of dy and of dy times the normalised data.
template <class P>
struct Sums {
  P dy, product;
};

template <class T, class P>
struct SliceSums {
  using V = Sums<P>;
  Channels channels;
  const T *dy, *x;
  const uint8_t* mask;
  const P *mean, *inverse_std;
  V* out;
  MX_DEVICE V part(int64_t i, int lane, int lanes) const {
    const int64_t c = i / channels.slices, first = (i - c * channels.slices) * channels.slice;
    const int64_t end = first + channels.slice;
    V value{P(0), P(0)};
    for (int64_t p = first + lane; p < end && p < channels.positions; p += lanes) {
      const int64_t at = channels.at(c, p);
      if (mask != nullptr && mask[at] == 0) continue;
      const P d = static_cast<P>(widen(dy[at]));
      value.dy += d;
      value.product += d * ((static_cast<P>(widen(x[at])) - mean[c]) * inverse_std[c]);
    }
    return value;
  }
  MX_DEVICE V merge(const V& a, const V& b) const { return {a.dy + b.dy, a.product + b.product}; }
  MX_DEVICE void finish(int64_t i, const V& value) const { out[i] = value; }
};

// The inverse of the deviation from what the forward pass has shown; moving averages follow.
template <class P>
struct Recall {
  const P *mean, *spread;
  P *moving_mean, *moving_var, *inverse_std;
  P eps, momentum;
  bool spread_is_variance, moves;
  MX_DEVICE void operator()(int64_t c) const {
    const P given = spread[c];
    P variance = given;
    if (!spread_is_variance) {
      variance = P(1) / (given * given) - eps;
      variance = variance > P(0) ? variance : P(0);
    }
    inverse_std[c] = spread_is_variance ? P(1) / row_words::sqrt(variance + eps) : given;
    if (!moves) return;
    moving_mean[c] = moving_mean[c] * momentum + mean[c] * (P(1) - momentum);
    moving_var[c] = moving_var[c] * momentum + variance * (P(1) - momentum);
  }
};

template <class P>
struct SettleSums {
  Channels channels;
  const Sums<P>* slices;
  P *dgamma, *dbeta;
  Sums<P>* sums;
  bool fix_gamma;
  MX_DEVICE void operator()(int64_t c) const {
    Sums<P> all{P(0), P(0)};
    for (int64_t s = 0; s < channels.slices; ++s) {
      const Sums<P>& part = slices[c * channels.slices + s];
      all = {all.dy + part.dy, all.product + part.product};
    }
    dgamma[c] = fix_gamma ? P(0) : all.product;
    dbeta[c] = all.dy;
    sums[c] = all;
  }
};

template <class T, class P>
struct DataSlope {
  const T *dy, *x;
  const uint8_t* mask;
  T* dx;
  const P *mean, *inverse_std, *gamma;
  const Sums<P>* sums;
  Divider inner, length;
  P positions;
  bool of_batch, fix_gamma;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t row = inner.quotient(i), c = row - length.quotient(row) * length.by();
    P d = mask != nullptr && mask[i] == 0 ? P(0) : static_cast<P>(widen(dy[i]));
    if (of_batch) {
      const P normal = (static_cast<P>(widen(x[i])) - mean[c]) * inverse_std[c];
      d -= (sums[c].dy + normal * sums[c].product) / positions;
    }
    dx[i] = narrow<T>(d * inverse_std[c] * (fix_gamma ? P(1) : gamma[c]));
  }
};

// fn(T, P): the types of data and of parameters.
template <class F>
void for_types(const GpuBatchNorm& call, const F& fn) {
  for_dtype<kFloating.bits_>(call.data.dtype, "BatchNorm", [&](auto element) {
    using T = decltype(element);
    fn(element, Compute<T>{});
  });
}

}  // namespace

void batch_norm(NativeStream* stream, const GpuBatchNorm& work, KernelContext& context) {
  const BatchNormCall& call = work.call;
  const Channels channels(call);
  for_types(work, [&](auto element, auto parameter) {
    using T = decltype(element);
    using P = decltype(parameter);
    Moments<P>* slices = nullptr;
    if (work.of_batch) {
      slices = context.workspace_of<Moments<P>>(channels.length * channels.slices);
      for_each_group(stream, "batch_moments", channels.length * channels.slices, true,
                     SliceMoments<T, P>{channels, work.data.as<T>(), slices});
    }
    P* const inverse_std = context.workspace_of<P>(channels.length);
    for_each(stream, "batch_settle", channels.length,
             Settle<P>{channels, slices, work.moving_mean.as<P>(), work.moving_var.as<P>(),
                       work.gamma.as<P>(), work.mean.as<P>(), work.spread.as<P>(), inverse_std,
                       static_cast<P>(call.eps), call.fix_gamma, work.spread_is_variance});
    for_each(stream, "batch_norm", work.data.size(),
             Normalize<T, P>{work.data.as<T>(), work.out->as<T>(),
                             work.mask == nullptr ? nullptr : work.mask->as<uint8_t>(),
                             work.mean.as<P>(), inverse_std, work.gamma.as<P>(), work.beta->as<P>(),
                             Divider(call.channels.inner), Divider(channels.length)});
  });
}

void batch_norm_slope(NativeStream* stream, const GpuBatchNorm& work, KernelContext& context) {
  const BatchNormCall& call = work.call;
  const Channels channels(call);
  for_types(work, [&](auto element, auto parameter) {
    using T = decltype(element);
    using P = decltype(parameter);
    const uint8_t* mask = work.mask == nullptr ? nullptr : work.mask->as<uint8_t>();
    P* const inverse_std = context.workspace_of<P>(channels.length);
    auto* const slices = context.workspace_of<Sums<P>>(channels.length * channels.slices);
    auto* const sums = context.workspace_of<Sums<P>>(channels.length);
    for_each(stream, "batch_recall", channels.length,
             Recall<P>{work.mean.as<P>(), work.spread.as<P>(), work.moving_mean.as<P>(),
                       work.moving_var.as<P>(), inverse_std, static_cast<P>(call.eps),
                       static_cast<P>(work.momentum), work.spread_is_variance,
                       work.of_batch && channels.positions > 0});
    for_each_group(stream, "batch_sums", channels.length * channels.slices, true,
                   SliceSums<T, P>{channels, work.dy->as<T>(), work.data.as<T>(), mask,
                                   work.mean.as<P>(), inverse_std, slices});
    for_each(stream, "batch_settle_sums", channels.length,
             SettleSums<P>{channels, slices, work.dgamma->as<P>(), work.dbeta->as<P>(), sums,
                           call.fix_gamma});
    for_each(stream, "batch_norm_slope", work.data.size(),
             DataSlope<T, P>{work.dy->as<T>(), work.data.as<T>(), mask, work.dx->as<T>(),
                             work.mean.as<P>(), inverse_std, work.gamma.as<P>(), sums,
                             Divider(call.channels.inner), Divider(channels.length),
                             static_cast<P>(channels.positions), work.of_batch, call.fix_gamma});
  });
}

}  // namespace cuda
}  // namespace mxnet
