// SPDX-License-Identifier: Apache-2.0
// One function over whole arrays of one size: 16 bytes of each array a thread and step.
#pragma once
#include "plugin/cuda/elements.cuh"
#include "plugin/cuda/launch.cuh"

namespace mxnet {
namespace cuda {

// Elements from `first` on, of which there are n - first; `whole`: at least kSize, in an aligned
// array. What is not there is the first element once more, so that the function stands in a kernel
// once for whole packs and for what is left.
template <int kSize, class T>
MX_DEVICE Pack<T, kSize> load_pack(const T* x, int64_t first, int64_t n, bool whole) {
  if (whole) return *reinterpret_cast<const Pack<T, kSize>*>(x + first);
  Pack<T, kSize> loaded;
#pragma unroll
  for (int k = 0; k < kSize; ++k) loaded.values[k] = x[first + k < n ? first + k : first];
  return loaded;
}
template <int kSize, class T>
MX_DEVICE void store_pack(T* y, int64_t first, int64_t n, bool whole, const Pack<T, kSize>& out) {
  if (whole) {
    *reinterpret_cast<Pack<T, kSize>*>(y + first) = out;
    return;
  }
#pragma unroll
  for (int k = 0; k < kSize; ++k)
    if (first + k < n) y[first + k] = out.values[k];
}

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
    const bool whole = aligned && first + kSize <= n;
    const Pack<T, kSize> in = load_pack<kSize>(x, first, n, whole);
    Pack<Out, kSize> out;
#pragma unroll
    for (int k = 0; k < kSize; ++k) out.values[k] = narrow<Out>(f(widen(in.values[k])));
    store_pack(y, first, n, whole, out);
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

  MX_DEVICE static Pack<T, kSize> load(const T* x, bool stays, int64_t first, int64_t n,
                                       bool whole) {
    return stays ? load_pack<kSize>(x, 0, 1, false) : load_pack<kSize>(x, first, n, whole);
  }
  MX_DEVICE void operator()(int64_t pack) const {
    const int64_t first = pack * kSize;
    const bool whole = aligned && first + kSize <= n;
    const Pack<T, kSize> left = load(a, a_stays, first, n, whole),
                         right = load(b, b_stays, first, n, whole);
    Pack<Out, kSize> out;
#pragma unroll
    for (int k = 0; k < kSize; ++k)
      out.values[k] = narrow<Out>(f(widen(left.values[k]), widen(right.values[k])));
    store_pack(y, first, n, whole, out);
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
