// SPDX-License-Identifier: Apache-2.0
// The forward pass of batch normalisation: statistics of slices by Welford's sums, those of
// channels, and the normalised data.
#include "plugin/cuda/batch_norm.cuh"

namespace mxnet {
namespace cuda {
namespace {

using namespace normal;  // NOLINT(google-build-using-namespace): the other half of this idea

// Number, mean and sum of squared distances of what was seen (Welford).
template <class C>
struct Moments {
  C count, mean, squares;
  MX_DEVICE void add(C x) {
    count += C(1);
    add_as_one_of(x, C(1) / count);
  }
  // The same for many that share a count.
  MX_DEVICE void add_as_one_of(C x, C inverse_count) {
    const C distance = x - mean;
    mean += distance * inverse_count;
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

template <class T, class C>
struct SliceMoments {
  using V = Moments<C>;
  Channels channels;
  const T* x;
  V* out;
  MX_DEVICE V part(int64_t i, int lane, int lanes) const {
    const int64_t c = i % channels.length, first = channels.first_of(i);
    const int64_t end = first + channels.slice;
    V value{C(0), C(0), C(0)};
    for (int64_t p = first + lane; p < end && p < channels.positions; p += lanes)
      value.add(static_cast<C>(widen(x[channels.at(c, p)])));
    return value;
  }
  MX_DEVICE V merge(const V& a, const V& b) const { return V::merged(a, b); }
  MX_DEVICE void finish(int64_t i, const V& value) const { out[i] = value; }
};

// Of kSize channels that a thread loads at once.
template <class T, class C, int kSize>
struct PackMoments {
  Channels channels;
  const T* x;
  Moments<C>* out;
  MX_DEVICE void operator()(int64_t pack) const {
    using P = Pack<T, kSize>;
    const int64_t i = pack * kSize, c = i % channels.length, first = channels.first_of(i);
    const int64_t end = first + channels.slice;
    Moments<C> values[kSize];
    for (Moments<C>& value : values) value = {C(0), C(0), C(0)};
    C count = C(0);
    for (int64_t p = first; p < end && p < channels.positions; ++p) {
      const P loaded = *reinterpret_cast<const P*>(x + p * channels.length + c);
      count += C(1);
      const C inverse = C(1) / count;
#pragma unroll
      for (int k = 0; k < kSize; ++k)
        values[k].add_as_one_of(static_cast<C>(widen(loaded.values[k])), inverse);
    }
    for (int k = 0; k < kSize; ++k) out[i + k] = {count, values[k].mean, values[k].squares};
  }
};

// Statistics of a channel: those of its slices, or the moving ones. P is the type of parameters.
template <class P>
struct Settle {
  using V = Moments<P>;
  Channels channels;
  const Moments<P>* slices;  // null: moving
  const P *moving_mean, *moving_var;
  P *gamma, *mean, *spread;
  P* inverse_std;
  P eps;
  bool fix_gamma, spread_is_variance;
  MX_DEVICE V part(int64_t c, int lane, int lanes) const {
    V all{P(0), P(0), P(0)};
    for (int64_t s = lane; slices != nullptr && s < channels.slices; s += lanes)
      all = V::merged(all, slices[s * channels.length + c]);
    return all;
  }
  MX_DEVICE V merge(const V& a, const V& b) const { return V::merged(a, b); }
  MX_DEVICE void finish(int64_t c, const V& all) const {
    P m, variance;
    if (slices != nullptr) {
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

template <class T, class P, int kSize>
struct Normalize {
  Packs packs;
  const T* x;
  T* y;
  uint8_t* mask;
  const P *mean, *inverse_std, *gamma, *beta;
  MX_DEVICE void operator()(int64_t pack) const {
    using L = Pack<T, kSize>;
    const int64_t first = pack * kSize;
    int64_t c = packs.channel(first);
    L loaded = reinterpret_cast<const L*>(x)[pack];
#pragma unroll
    for (int k = 0; k < kSize; ++k, c += packs.step) {
      P value =
          (static_cast<P>(widen(loaded.values[k])) - mean[c]) * inverse_std[c] * gamma[c] + beta[c];
      if (mask != nullptr) {
        mask[first + k] = value > P(0);
        value = value < P(0) ? P(0) : value;  // NaN passes
      }
      loaded.values[k] = narrow<T>(value);
    }
    reinterpret_cast<L*>(y)[pack] = loaded;
  }
};

}  // namespace

void batch_norm(NativeStream* stream, const GpuBatchNorm& work, KernelContext& context) {
  const BatchNormCall& call = work.call;
  for_types(work, [&](auto element, auto parameter) {
    using T = decltype(element);
    using P = decltype(parameter);
    const Channels channels(call, loads_of<T>({&work.data}));
    const T* const x = work.data.as<T>();
    Moments<P>* slices = nullptr;
    if (work.of_batch) {
      slices = context.workspace_of<Moments<P>>(channels.length * channels.slices);
      take_slices<kPackSize<T>>(
          stream, "batch_moments", channels,
          [&](auto size) {
            return PackMoments<T, P, decltype(size)::value>{channels, x, slices};
          },
          [&] {
            return SliceMoments<T, P>{channels, x, slices};
          });
    }
    P* const inverse_std = context.workspace_of<P>(channels.length);
    for_each_group(
        stream, "batch_settle", channels.length, slices != nullptr && is_wide(channels),
        Settle<P>{channels, slices, work.moving_mean.as<P>(), work.moving_var.as<P>(),
                  work.gamma.as<P>(), work.mean.as<P>(), work.spread.as<P>(), inverse_std,
                  static_cast<P>(call.eps), call.fix_gamma, work.spread_is_variance});
    const Packs packs(channels, kPackSize<T>);
    for_each_pack<kPackSize<T>>(stream, "batch_norm", work.data.size(),
                                packs.possible && loads_of<T>({&work.data, work.out}) > 1,
                                [&](auto size) {
                                  return Normalize<T, P, decltype(size)::value>{
                                      packs,
                                      x,
                                      work.out->as<T>(),
                                      work.mask == nullptr ? nullptr : work.mask->as<uint8_t>(),
                                      work.mean.as<P>(),
                                      inverse_std,
                                      work.gamma.as<P>(),
                                      work.beta->as<P>()};
                                });
  });
}

}  // namespace cuda
}  // namespace mxnet
