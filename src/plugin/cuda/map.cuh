// SPDX-License-Identifier: Apache-2.0
// One function over whole arrays of one size: 16 bytes of each array a thread and step.
#pragma once
#include "plugin/cuda/elements.cuh"
#include "plugin/cuda/launch.cuh"

namespace mxnet {
namespace cuda {

// y[i] = f(x[i]); f takes and gives computed types.
template <class F, class T, class Out, int kSize>
struct MapUnary {
  F f;
  const T* x;
  Out* y;
  int64_t n;
  bool aligned;

  MX_DEVICE void operator()(int64_t pack) const {
    const int64_t first = pack * kSize;
    if (aligned && first + kSize <= n) {
      const Pack<T, kSize> in = reinterpret_cast<const Pack<T, kSize>*>(x)[pack];
      Pack<Out, kSize> out;
#pragma unroll
      for (int k = 0; k < kSize; ++k) out.values[k] = narrow<Out>(f(widen(in.values[k])));
      reinterpret_cast<Pack<Out, kSize>*>(y)[pack] = out;
    } else {
      for (int64_t i = first; i < first + kSize && i < n; ++i) y[i] = narrow<Out>(f(widen(x[i])));
    }
  }
};

// y[i] = f(a[i], b[i]); an array that stays is one element that meets all of the other.
template <class F, class T, class Out, int kSize>
struct MapBinary {
  F f;
  const T *a, *b;
  Out* y;
  int64_t n;
  bool a_stays, b_stays, aligned;

  MX_DEVICE static Pack<T, kSize> load(const T* x, bool stays, int64_t pack) {
    if (!stays) return reinterpret_cast<const Pack<T, kSize>*>(x)[pack];
    Pack<T, kSize> same;
#pragma unroll
    for (int k = 0; k < kSize; ++k) same.values[k] = *x;
    return same;
  }
  MX_DEVICE void operator()(int64_t pack) const {
    const int64_t first = pack * kSize;
    if (aligned && first + kSize <= n) {
      const Pack<T, kSize> left = load(a, a_stays, pack), right = load(b, b_stays, pack);
      Pack<Out, kSize> out;
#pragma unroll
      for (int k = 0; k < kSize; ++k)
        out.values[k] = narrow<Out>(f(widen(left.values[k]), widen(right.values[k])));
      reinterpret_cast<Pack<Out, kSize>*>(y)[pack] = out;
    } else {
      for (int64_t i = first; i < first + kSize && i < n; ++i)
        y[i] = narrow<Out>(f(widen(a[a_stays ? 0 : i]), widen(b[b_stays ? 0 : i])));
    }
  }
};

// Elements that fill the wider type's 16 bytes, so that no load is wider than that.
template <class T, class Out>
inline constexpr int kMapSize = kPackSize<std::conditional_t<(sizeof(T) > sizeof(Out)), T, Out>>;

template <class T, class Out, class F>
void map_unary(NativeStream* stream, const char* name, const F& f, const void* x, void* y,
               int64_t n) {
  constexpr int kSize = kMapSize<T, Out>;
  const bool aligned = is_aligned(x) && is_aligned(y);
  for_each(
      stream, name, (n + kSize - 1) / kSize,
      MapUnary<F, T, Out, kSize>{f, static_cast<const T*>(x), static_cast<Out*>(y), n, aligned});
}

template <class T, class Out, class F>
void map_binary(NativeStream* stream, const char* name, const F& f, const void* a, const void* b,
                void* y, int64_t n, bool a_stays = false, bool b_stays = false) {
  constexpr int kSize = kMapSize<T, Out>;
  const bool aligned = (a_stays || is_aligned(a)) && (b_stays || is_aligned(b)) && is_aligned(y);
  for_each(stream, name, (n + kSize - 1) / kSize,
           MapBinary<F, T, Out, kSize>{f, static_cast<const T*>(a), static_cast<const T*>(b),
                                       static_cast<Out*>(y), n, a_stays, b_stays, aligned});
}

}  // namespace cuda
}  // namespace mxnet
