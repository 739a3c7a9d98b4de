// SPDX-License-Identifier: Apache-2.0
// Random numbers: Philox4x32-10 (Salmon et al., 2011), a function of a key and a position. Four
// words serve up to four elements, so that a number depends on its place alone.
#include "plugin/cuda/elements.cuh"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/map.cuh"
#include "plugin/cuda/philox.h"
#include "plugin/cuda/primitives.h"

namespace mxnet {
namespace cuda {
namespace {

// In [0, 1), of 24 bits, or of 53 out of two words.
MX_DEVICE float unit(const PhiloxWords& words, int k, float) {
  return static_cast<float>(words.word[k] >> 8) * (1.0f / 16777216.0f);
}
MX_DEVICE double unit(const PhiloxWords& words, int k, double) {
  const uint64_t bits = static_cast<uint64_t>(words.word[2 * k]) << 32 | words.word[2 * k + 1];
  return static_cast<double>(bits >> 11) * (1.0 / 9007199254740992.0);
}
// Numbers that four words make.
template <class C>
constexpr int kNumbers = 16 / static_cast<int>(sizeof(C));

// Sine and cosine of a part of a turn. The GPU's function for that needs no memory for angles of
// many turns.
template <class C>
MX_DEVICE void of_turn(C part, C* sine, C* cosine) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(C) == sizeof(float))
    ::sincospif(2 * part, sine, cosine);
  else
    ::sincospi(2 * part, sine, cosine);
#else
  const C angle = C(6.283185307179586476925) * part;
  *sine = row_words::sin(angle);
  *cosine = row_words::cos(angle);
#endif
}

// Box and Muller's pair out of two numbers.
template <class C>
MX_DEVICE void to_normal(C* pair) {
  const C radius = row_words::sqrt(C(-2) * row_words::log(C(1) - pair[0]));
  C sine, cosine;
  of_turn(pair[1], &sine, &cosine);
  pair[0] = radius * cosine;
  pair[1] = radius * sine;
}

template <class T>
struct Draw {
  using C = Compute<T>;
  GpuDistribution distribution;
  uint64_t key;
  C a, b;
  T* out;
  int64_t n;
  bool aligned;
  MX_DEVICE void operator()(int64_t group) const {
    constexpr int kSize = kNumbers<C>;
    const PhiloxWords words = philox(key, static_cast<uint64_t>(group));
    C numbers[kSize];
    Pack<T, kSize> pack;
#pragma unroll
    for (int k = 0; k < kSize; ++k) numbers[k] = unit(words, k, C());
    if (distribution == GpuDistribution::kNormal) {
#pragma unroll
      for (int k = 0; k < kSize; k += 2) to_normal(numbers + k);
    }
#pragma unroll
    for (int k = 0; k < kSize; ++k) pack.values[k] = narrow<T>(ended(numbers[k]));
    const int64_t first = group * kSize;
    store_pack(out, first, n, aligned && first + kSize <= n, pack);
  }
  MX_DEVICE C ended(C number) const {
    switch (distribution) {
      case GpuDistribution::kUniform:
        return number * (b - a) + a;
      case GpuDistribution::kNormal:
        return number * b + a;
      case GpuDistribution::kExponential:
        return -row_words::log(C(1) - number) / a;
    }
    return number;
  }
};

template <class T>
struct KeepMask {
  using C = Compute<T>;
  uint64_t key;
  float keep;
  C factor;
  T* mask;
  const T* in;
  T* out;
  int64_t n;
  bool aligned;
  MX_DEVICE void operator()(int64_t group) const {
    constexpr int kSize = kNumbers<float>, kAtOnce = kSize < kPackSize<T> ? kSize : kPackSize<T>;
    const PhiloxWords words = philox(key, static_cast<uint64_t>(group));
#pragma unroll
    for (int at = 0; at < kSize; at += kAtOnce) {  // four of float64 are more than a load
      const int64_t first = group * kSize + at;
      if (first >= n) return;
      const bool whole = aligned && first + kAtOnce <= n;
      Pack<T, kAtOnce> factors;
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k)
        factors.values[k] = narrow<T>(unit(words, at + k, 0.0f) < keep ? factor : C(0));
      store_pack(mask, first, n, whole, factors);
      if (in == nullptr) continue;
      Pack<T, kAtOnce> kept = load_pack<kAtOnce>(in, first, n, whole);
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k)
        kept.values[k] = narrow<T>(widen(kept.values[k]) * widen(factors.values[k]));
      store_pack(out, first, n, whole, kept);
    }
  }
};

}  // namespace

void random(NativeStream* stream, GpuDistribution distribution, uint64_t key, double a, double b,
            const Tensor& out) {
  for_dtype<kFloating.bits_>(out.dtype, "random", [&](auto element) {
    using T = decltype(element);
    using C = Compute<T>;
    const int64_t n = out.size();
    for_each(stream, "random", (n + kNumbers<C> - 1) / kNumbers<C>,
             Draw<T>{distribution, key, static_cast<C>(a), static_cast<C>(b), out.as<T>(), n,
                     is_aligned(out.data)});
  });
}

void keep_mask(NativeStream* stream, uint64_t key, float keep, const Tensor& mask, const Tensor* in,
               const Tensor* out) {
  for_dtype<kFloating.bits_>(mask.dtype, "Dropout", [&](auto element) {
    using T = decltype(element);
    using C = Compute<T>;
    const C factor = keep > 0.0f ? C(1) / static_cast<C>(keep) : C(0);
    const int64_t n = mask.size();
    const bool aligned = is_aligned(mask.data) && (in == nullptr || is_aligned(in->data)) &&
                         (out == nullptr || is_aligned(out->data));
    for_each(stream, "keep_mask", (n + kNumbers<float> - 1) / kNumbers<float>,
             KeepMask<T>{key, keep, factor, mask.as<T>(), in == nullptr ? nullptr : in->as<T>(),
                         out == nullptr ? nullptr : out->as<T>(), n, aligned});
  });
}

}  // namespace cuda
}  // namespace mxnet
