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
  for_each(stream, name, n,
           BroadcastBinary<F, T, Out>{f, a.as<T>(), b.as<T>(), y.as<Out>(),
                                      broadcast_walk(a.shape(), b.shape(), y.shape())});
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
