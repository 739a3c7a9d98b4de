// SPDX-License-Identifier: Apache-2.0
// The gradient of batch normalisation, and the moving averages, which follow the backward pass.
#include "plugin/cuda/batch_norm.cuh"

namespace mxnet {
namespace cuda {
namespace {

using namespace normal;  // NOLINT(google-build-using-namespace): the other half of this idea

// Sums of dy and of dy times the normalised data.
template <class P>
struct Sums {
  P dy, product;
  MX_DEVICE void add(P d, P x, P mean, P inverse_std) {
    dy += d;
    product += d * ((x - mean) * inverse_std);
  }
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
    const int64_t c = i % channels.length, first = channels.first_of(i);
    const int64_t end = first + channels.slice;
    V value{P(0), P(0)};
    for (int64_t p = first + lane; p < end && p < channels.positions; p += lanes) {
      const int64_t at = channels.at(c, p);
      if (mask != nullptr && mask[at] == 0) continue;
      value.add(static_cast<P>(widen(dy[at])), static_cast<P>(widen(x[at])), mean[c],
                inverse_std[c]);
    }
    return value;
  }
  MX_DEVICE V merge(const V& a, const V& b) const { return {a.dy + b.dy, a.product + b.product}; }
  MX_DEVICE void finish(int64_t i, const V& value) const { out[i] = value; }
};

template <class T, class P, int kSize>
struct PackSums {
  Channels channels;
  const T *dy, *x;
  const uint8_t* mask;
  const P *mean, *inverse_std;
  Sums<P>* out;
  MX_DEVICE void operator()(int64_t pack) const {
    using L = Pack<T, kSize>;
    const int64_t i = pack * kSize, c = i % channels.length, first = channels.first_of(i);
    const int64_t end = first + channels.slice;
    Sums<P> values[kSize];
    P means[kSize], inverses[kSize];
    for (int k = 0; k < kSize; ++k) {
      values[k] = {P(0), P(0)};
      means[k] = mean[c + k];
      inverses[k] = inverse_std[c + k];
    }
    for (int64_t p = first; p < end && p < channels.positions; ++p) {
      const int64_t at = p * channels.length + c;
      const L slopes = *reinterpret_cast<const L*>(dy + at);
      const L loaded = *reinterpret_cast<const L*>(x + at);
#pragma unroll
      for (int k = 0; k < kSize; ++k) {
        if (mask != nullptr && mask[at + k] == 0) continue;
        values[k].add(static_cast<P>(widen(slopes.values[k])),
                      static_cast<P>(widen(loaded.values[k])), means[k], inverses[k]);
      }
    }
    for (int k = 0; k < kSize; ++k) out[i + k] = values[k];
  }
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
  using V = Sums<P>;
  Channels channels;
  const Sums<P>* slices;
  P *dgamma, *dbeta;
  Sums<P>* sums;
  bool fix_gamma;
  MX_DEVICE V part(int64_t c, int lane, int lanes) const {
    V all{P(0), P(0)};
    for (int64_t s = lane; s < channels.slices; s += lanes)
      all = merge(all, slices[s * channels.length + c]);
    return all;
  }
  MX_DEVICE V merge(const V& a, const V& b) const { return {a.dy + b.dy, a.product + b.product}; }
  MX_DEVICE void finish(int64_t c, const V& all) const {
    dgamma[c] = fix_gamma ? P(0) : all.product;
    dbeta[c] = all.dy;
    sums[c] = all;
  }
};

template <class T, class P, int kSize>
struct DataSlope {
  Packs packs;
  const T *dy, *x;
  const uint8_t* mask;
  T* dx;
  const P *mean, *inverse_std, *gamma;
  const Sums<P>* sums;
  P share;  // of a position
  bool of_batch, fix_gamma;
  MX_DEVICE void operator()(int64_t pack) const {
    using L = Pack<T, kSize>;
    const int64_t first = pack * kSize;
    int64_t c = packs.channel(first);
    L slopes = reinterpret_cast<const L*>(dy)[pack];
    const L loaded = reinterpret_cast<const L*>(x)[pack];
#pragma unroll
    for (int k = 0; k < kSize; ++k, c += packs.step) {
      const bool passes = mask == nullptr || mask[first + k] != 0;
      P d = passes ? static_cast<P>(widen(slopes.values[k])) : P(0);
      if (of_batch) {
        const P normal = (static_cast<P>(widen(loaded.values[k])) - mean[c]) * inverse_std[c];
        d -= (sums[c].dy + normal * sums[c].product) * share;
      }
      slopes.values[k] = narrow<T>(d * inverse_std[c] * (fix_gamma ? P(1) : gamma[c]));
    }
    reinterpret_cast<L*>(dx)[pack] = slopes;
  }
};

}  // namespace

void batch_norm_slope(NativeStream* stream, const GpuBatchNorm& work, KernelContext& context) {
  const BatchNormCall& call = work.call;
  for_types(work, [&](auto element, auto parameter) {
    using T = decltype(element);
    using P = decltype(parameter);
    const Channels channels(call, loads_of<T>({work.dy, &work.data}));
    const T *const dy = work.dy->as<T>(), *const x = work.data.as<T>();
    const P* const mean = work.mean.as<P>();
    const uint8_t* mask = work.mask == nullptr ? nullptr : work.mask->as<uint8_t>();
    P* const inverse_std = context.workspace_of<P>(channels.length);
    auto* const slices = context.workspace_of<Sums<P>>(channels.length * channels.slices);
    auto* const sums = context.workspace_of<Sums<P>>(channels.length);
    for_each(stream, "batch_recall", channels.length,
             Recall<P>{work.mean.as<P>(), work.spread.as<P>(), work.moving_mean.as<P>(),
                       work.moving_var.as<P>(), inverse_std, static_cast<P>(call.eps),
                       static_cast<P>(work.momentum), work.spread_is_variance,
                       work.of_batch && channels.positions > 0});
    take_slices<kPackSize<T>>(
        stream, "batch_sums", channels,
        [&](auto size) {
          return PackSums<T, P, decltype(size)::value>{channels, dy,          x,     mask,
                                                       mean,     inverse_std, slices};
        },
        [&] { return SliceSums<T, P>{channels, dy, x, mask, mean, inverse_std, slices}; });
    for_each_group(stream, "batch_settle_sums", channels.length, is_wide(channels),
                   SettleSums<P>{channels, slices, work.dgamma->as<P>(), work.dbeta->as<P>(), sums,
                                 call.fix_gamma});
    const Packs packs(channels, kPackSize<T>);
    for_each_pack<kPackSize<T>>(
        stream, "batch_norm_slope", work.data.size(),
        packs.possible && loads_of<T>({work.dy, &work.data, work.dx}) > 1, [&](auto size) {
          return DataSlope<T, P, decltype(size)::value>{packs,
                                                        dy,
                                                        x,
                                                        mask,
                                                        work.dx->as<T>(),
                                                        mean,
                                                        inverse_std,
                                                        work.gamma.as<P>(),
                                                        sums,
                                                        P(1) / static_cast<P>(channels.positions),
                                                        work.of_batch,
                                                        call.fix_gamma};
        });
  });
}

}  // namespace cuda
}  // namespace mxnet
