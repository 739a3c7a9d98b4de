// SPDX-License-Identifier: Apache-2.0
// Kernels of batch normalisation (op/norm/batch_norm_kernel.h). Channels are few and long: each is
// cut into slices whose sums are merged in a fixed order. Where a channel's elements lie together,
// a block sums up a slice; where channels come last, a thread does, of as many channels as it loads
// at once, so that neighbours load what lies together.
#include "op/norm/batch_norm_kernel.h"

#include "plugin/cuda/elements.cuh"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/primitives.h"
#include "plugin/cuda/walk.h"

namespace mxnet {
namespace cuda {
namespace {

// Slices of all channels, and the positions that one has at least. Estimates for threads: no GPU
// has measured them.
struct Cut {
  int64_t slices, least;
};
constexpr Cut kBlocks{2048, 4096};  // some blocks for each multiprocessor
constexpr Cut kThreadsOfPacks{1 << 16, 32};

// Element p of channel c lies at (p / inner * length + c) * inner + p % inner.
struct Channels {
  int64_t length, positions, slices, slice;
  Divider inner;
  int pack;  // channels of a thread; 0: a block has one

  // `loads`: elements that a thread loads at once where it can.
  Channels(const BatchNormCall& call, int loads)
      : length(call.channels.length), positions(call.positions()), inner(call.channels.inner) {
    const bool last = inner.by() == 1 && length > 1;
    pack = !last ? 0 : length % loads == 0 ? loads : 1;
    const Cut& cut = last ? kThreadsOfPacks : kBlocks;
    const int64_t across = last ? length / pack : length;
    const int64_t wanted = across == 0 ? 1 : (cut.slices + across - 1) / across;
    const int64_t most = (positions + cut.least - 1) / cut.least;
    slices = wanted < most ? wanted : most < 1 ? 1 : most;
    slice = (positions + slices - 1) / slices;
  }
  // Of slice i / length of channel i % length: where it begins; it ends before the next one.
  MX_DEVICE int64_t first_of(int64_t i) const { return i / length * slice; }
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

// Packs of elements that are of one channel, or of as many that follow each other.
struct Packs {
  Divider inner, length;
  int step;       // from the channel of an element of a pack to that of the next
  bool possible;  // else elements are taken one by one

  Packs(const Channels& channels, int loads)
      : inner(channels.inner),
        length(channels.length),
        step(channels.inner.by() == 1 ? 1 : 0),
        possible((step == 1 ? channels.length : channels.inner.by()) % loads == 0) {}
  MX_DEVICE int64_t channel(int64_t i) const {
    const int64_t row = inner.quotient(i);
    return row - length.quotient(row) * length.by();
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
        value = value > P(0) ? value : P(0);
      }
      loaded.values[k] = narrow<T>(value);
    }
    reinterpret_cast<L*>(y)[pack] = loaded;
  }
};

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

// fn(T, P): the types of data and of parameters.
template <class F>
void for_types(const GpuBatchNorm& call, const F& fn) {
  for_dtype<kFloating.bits_>(call.data.dtype, "BatchNorm", [&](auto element) {
    using T = decltype(element);
    fn(element, Compute<T>{});
  });
}

// A block for a channel where it has many slices.
bool is_wide(const Channels& channels) { return channels.slices > kWarp; }

// make(std::integral_constant): a function object for packs of so many elements.
template <int kLoads, class Make>
void for_each_pack(NativeStream* stream, const char* name, int64_t n, bool possible,
                   const Make& make) {
  if (possible)
    for_each(stream, name, n / kLoads, make(std::integral_constant<int, kLoads>{}));
  else
    for_each(stream, name, n, make(std::integral_constant<int, 1>{}));
}

// One launch that takes the slices, by threads with packs or by blocks.
template <int kLoads, class Make, class Blocks>
void take_slices(NativeStream* stream, const char* name, const Channels& channels, const Make& make,
                 const Blocks& blocks) {
  const int64_t n = channels.length * channels.slices;
  if (channels.pack == 0)
    for_each_group(stream, name, n, true, blocks());
  else
    for_each_pack<kLoads>(stream, name, n, channels.pack == kLoads, make);
}

// Elements that all of the arrays let a thread load at once.
template <class T>
int loads_of(std::initializer_list<const Tensor*> arrays) {
  for (const Tensor* array : arrays)
    if (!is_aligned(array->data)) return 1;
  return kPackSize<T>;
}

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
