// SPDX-License-Identifier: Apache-2.0
// The two ways to run a function of two arguments: on whole arrays (or an array and one element),
// and on any shapes that broadcast.
#pragma once
#include "plugin/cuda/map.cuh"
#include "plugin/cuda/primitives.h"
#include "plugin/cuda/walk.h"

namespace mxnet {
namespace cuda {

template <class F, class T, class Out>
struct BroadcastBinary {
  F f;
  const T *a, *b;
  Out* y;
  Walk<2> walk;
  MX_DEVICE void operator()(int64_t i) const {
    int64_t at[2];
    walk.offsets(i, at);
    y[i] = narrow<Out>(f(widen(a[at[0]]), widen(b[at[1]])));
  }
};

// Whether a function is worth a kernel that takes 16 bytes at once where shapes broadcast: it waits
// for nothing but memory.
template <class F>
inline constexpr bool kTakesPacks = false;

// The same, of packs: elements that lie together in both arrays, or are one element of an array.
template <class F, class T, class Out, int kSize>
struct BroadcastPacks {
  F f;
  const T *a, *b;
  Out* y;
  Walk<2> walk;  // over packs, in elements
  bool a_stays, b_stays;
  MX_DEVICE static Pack<T, kSize> load(const T* from, bool stays) {
    return stays ? load_pack<kSize>(from, 0, 1, false)
                 : *reinterpret_cast<const Pack<T, kSize>*>(from);
  }
  MX_DEVICE void operator()(int64_t i) const {
    int64_t at[2];
    walk.offsets(i, at);
    const Pack<T, kSize> left = load(a + at[0], a_stays), right = load(b + at[1], b_stays);
    Pack<Out, kSize> out;
#pragma unroll
    for (int k = 0; k < kSize; ++k)
      out.values[k] = narrow<Out>(f(widen(left.values[k]), widen(right.values[k])));
    reinterpret_cast<Pack<Out, kSize>*>(y)[i] = out;
  }
};

// Whether lines of `walk` are whole packs of `size` wherever they begin; makes it one over packs.
// REQUIRES: arrays are aligned to packs.
inline bool walk_packs(Walk<2>* walk, int64_t size) {
  if (walk->ndim == 0) return false;
  const int last = walk->ndim - 1;
  if (walk->sizes[last].by() % size != 0) return false;
  for (int array = 0; array < 2; ++array) {
    const int64_t step = walk->steps[last][array];
    if (step == 0) continue;
    if (step != 1) return false;
    for (int d = 0; d < last; ++d)
      if (walk->steps[d][array] % size != 0) return false;
  }
  walk->sizes[last] = Divider(walk->sizes[last].by() / size);
  for (int64_t& step : walk->steps[last]) step *= size;
  return true;
}

// How two shapes meet in a third.
inline Walk<2> broadcast_walk(const Shape& a, const Shape& b, const Shape& out) {
  int64_t steps[Shape::kMaxDims][2];
  int64_t step_a = 1, step_b = 1;
  for (int d = out.ndim() - 1; d >= 0; --d) {
    const int in_a = d - (out.ndim() - a.ndim()), in_b = d - (out.ndim() - b.ndim());
    const int64_t size_a = in_a >= 0 ? a[in_a] : 1, size_b = in_b >= 0 ? b[in_b] : 1;
    steps[d][0] = size_a == 1 ? 0 : step_a;
    steps[d][1] = size_b == 1 ? 0 : step_b;
    step_a *= size_a;
    step_b *= size_b;
  }
  Walk<2> walk;
  for (int d = 0; d < out.ndim(); ++d) walk.add(out[d], steps[d]);
  return walk;
}

template <class T, class Out, class F>
void run_binary(NativeStream* stream, const char* name, const F& f, const Tensor& a,
                const Tensor& b, const Tensor& y) {
  const int64_t n = y.size();
  const bool a_stays = a.size() == 1 && n != 1, b_stays = b.size() == 1 && n != 1;
  if ((a_stays || a.size() == n) && (b_stays || b.size() == n))
    return map_binary<T, Out>(stream, name, f, a.data, b.data, y.data, n, a_stays, b_stays);
  Walk<2> walk = broadcast_walk(a.shape(), b.shape(), y.shape());
  if constexpr (kTakesPacks<F>) {
    constexpr int kSize = kMapSize<T, Out>;
    const bool a_in_line = walk.ndim > 0 && walk.steps[walk.ndim - 1][0] != 0,
               b_in_line = walk.ndim > 0 && walk.steps[walk.ndim - 1][1] != 0;
    if (is_aligned(y.data) && is_aligned(a.data) && is_aligned(b.data) && walk_packs(&walk, kSize))
      return for_each(stream, name, n / kSize,
                      BroadcastPacks<F, T, Out, kSize>{f, a.as<T>(), b.as<T>(), y.as<Out>(), walk,
                                                       !a_in_line, !b_in_line});
  }
  for_each(stream, name, n, BroadcastBinary<F, T, Out>{f, a.as<T>(), b.as<T>(), y.as<Out>(), walk});
}

// A number beside an array, on either side of it.
template <class F, class C>
struct WithScalar {
  F f;
  C scalar;
  bool left;
  MX_DEVICE auto operator()(C x) const { return f(left ? scalar : x, left ? x : scalar); }
};
template <class T, class Out, class F>
void run_scalar(NativeStream* stream, const char* name, const F& f, const Tensor& a, double scalar,
                bool left, const Tensor& y) {
  using C = Compute<T>;
  const C value = static_cast<C>(widen(narrow<T>(scalar)));  // rounded as an element would be
  map_unary<T, Out>(stream, name, WithScalar<F, C>{f, value, left}, a.data, y.data, y.size());
}

// The comparing rows, counted from their first: results have the arguments' type, or are bool.
void compare(NativeStream* stream, int row, const Tensor& a, const Tensor& b, const Tensor& y);
void compare_scalar(NativeStream* stream, int row, const Tensor& a, double number, bool scalar_left,
                    const Tensor& y);

}  // namespace cuda
}  // namespace mxnet
