// SPDX-License-Identifier: Apache-2.0
// Places of extreme elements along an axis: the first of equal ones, and NaN before all numbers.
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/lines.cuh"
#include "plugin/cuda/primitives.h"

namespace mxnet {
namespace cuda {
namespace {

template <class C>
struct Best {
  int64_t at;  // -1: none seen
  C value;
};

template <class T>
struct FindBest {
  const T* x;
  void* out;
  bool largest, wide_out;  // places as int64, else in the elements' type
  Lines lines;

  using C = Compute<T>;
  MX_DEVICE bool beats(C a, C b) const { return (largest ? a > b : a < b) | ((a != a) & (b == b)); }
  MX_DEVICE Best<C> part(int64_t line, int lane, int lanes) const {
    Best<C> best{-1, C(0)};
    const int64_t first = lines.first(line);
    for (int64_t k = lane; k < lines.length; k += lanes) {
      const C value = widen(x[first + k * lines.inner]);
      if (best.at < 0 || beats(value, best.value)) best = {k, value};
    }
    return best;
  }
  MX_DEVICE Best<C> merge(Best<C> a, Best<C> b) const {
    if (a.at < 0 || b.at < 0) return a.at < 0 ? b : a;
    if (beats(a.value, b.value)) return a;
    if (beats(b.value, a.value)) return b;
    return a.at < b.at ? a : b;
  }
  MX_DEVICE void finish(int64_t line, Best<C> best) const {
    if (wide_out)
      static_cast<int64_t*>(out)[line] = best.at;
    else
      static_cast<T*>(out)[line] = narrow<T>(best.at);
  }
  // One thread a line: where neighbouring lines are neighbours in memory.
  MX_DEVICE void operator()(int64_t line) const { finish(line, part(line, 0, 1)); }
};

}  // namespace

void arg(NativeStream* stream, bool largest, const Tensor& in, int64_t length, int64_t inner,
         const Tensor& out) {
  constexpr int64_t kLong = 2048;
  for_dtype(in.dtype, "arg", [&](auto type) {
    using T = decltype(type);
    const FindBest<T> f{in.as<T>(), out.data, largest, out.dtype == DType::kInt64, {length, inner}};
    if (inner >= kWarp)
      for_each(stream, "arg", out.size(), f);
    else
      for_each_group(stream, "arg", out.size(), length >= kLong, f);
  });
}

}  // namespace cuda
}  // namespace mxnet
