// SPDX-License-Identifier: Apache-2.0
// One function over whole arrays that are computed in float. float32, float16 and bfloat16 share a
// kernel: which one it is costs a branch that all threads take alike, and the function is compiled
// four times for all of them, where a kernel a type would have it twenty times.
#pragma once
#include "op/kernel.h"
#include "plugin/cuda/elements.cuh"
#include "plugin/cuda/launch.cuh"

namespace mxnet {
namespace cuda {

constexpr int kFloatsAtOnce = 8;  // 16 bytes of halves, two times 16 of float32

// An array of one of the three types, whose elements come and go as float.
struct Floats {
  void* data;
  DType dtype;

  // Elements from `first` on, of which there are `count`; `whole`: at least kFloatsAtOnce, in an
  // aligned array. What is not there is the first element once more.
  MX_DEVICE void load(int64_t first, int64_t count, bool whole, float (&to)[kFloatsAtOnce]) const {
    if (dtype == DType::kFloat32)
      load_as<float>(first, count, whole, to);
    else if (dtype == DType::kFloat16)
      load_as<float16>(first, count, whole, to);
    else
      load_as<bfloat16>(first, count, whole, to);
  }
  MX_DEVICE void store(int64_t first, int64_t count, bool whole,
                       const float (&from)[kFloatsAtOnce]) const {
    if (dtype == DType::kFloat32)
      store_as<float>(first, count, whole, from);
    else if (dtype == DType::kFloat16)
      store_as<float16>(first, count, whole, from);
    else
      store_as<bfloat16>(first, count, whole, from);
  }

 private:
  template <class T>
  MX_DEVICE void load_as(int64_t first, int64_t count, bool whole,
                         float (&to)[kFloatsAtOnce]) const {
    constexpr int kSize = kPackSize<T>;
    const T* const from = static_cast<const T*>(data) + first;
    if (whole) {
#pragma unroll
      for (int pack = 0; pack < kFloatsAtOnce / kSize; ++pack) {
        const Pack<T, kSize> in = reinterpret_cast<const Pack<T, kSize>*>(from)[pack];
#pragma unroll
        for (int k = 0; k < kSize; ++k) to[pack * kSize + k] = widen(in.values[k]);
      }
    } else {
#pragma unroll
      for (int k = 0; k < kFloatsAtOnce; ++k) to[k] = widen(from[k < count ? k : 0]);
    }
  }
  template <class T>
  MX_DEVICE void store_as(int64_t first, int64_t count, bool whole,
                          const float (&from)[kFloatsAtOnce]) const {
    constexpr int kSize = kPackSize<T>;
    T* const to = static_cast<T*>(data) + first;
    if (whole) {
#pragma unroll
      for (int pack = 0; pack < kFloatsAtOnce / kSize; ++pack) {
        Pack<T, kSize> out;
#pragma unroll
        for (int k = 0; k < kSize; ++k) out.values[k] = narrow<T>(from[pack * kSize + k]);
        reinterpret_cast<Pack<T, kSize>*>(to)[pack] = out;
      }
    } else {
#pragma unroll
      for (int k = 0; k < kFloatsAtOnce; ++k)
        if (k < count) to[k] = narrow<T>(from[k]);
    }
  }
};

// y[i] = f(a[i], b[i]), or f(a[i]) where kTwo is false.
template <class F, bool kTwo>
struct MapFloats {
  F f;
  Floats a, b, y;
  int64_t n;
  bool aligned;

  MX_DEVICE void operator()(int64_t step) const {
    constexpr int kHalf = kFloatsAtOnce / 2;
    const int64_t first = step * kFloatsAtOnce, count = n - first;
    const bool whole = aligned && count >= kFloatsAtOnce;
    float left[kFloatsAtOnce], right[kFloatsAtOnce], out[kFloatsAtOnce];
    a.load(first, count, whole, left);
    if constexpr (kTwo) b.load(first, count, whole, right);
      // The function four times and not eight. Places are known while compiling, so that all values
      // stay in registers.
#pragma unroll 1
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int k = 0; k < kHalf; ++k) {
        const float x = half == 0 ? left[k] : left[kHalf + k];
        float value;
        if constexpr (kTwo)
          value = f(x, half == 0 ? right[k] : right[kHalf + k]);
        else
          value = f(x);
        if (half == 0) out[k] = value;
        out[kHalf + k] = value;  // the second half stays
      }
    }
    y.store(first, count, whole, out);
  }
};

inline bool is_in_float(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

// REQUIRES: equal sizes, and one type, of which is_in_float() holds.
template <class F>
void map_floats(NativeStream* stream, const char* name, const F& f, const Tensor& x,
                const Tensor& y) {
  const Floats in{x.data, x.dtype}, out{y.data, y.dtype};
  for_each(stream, name, (y.size() + kFloatsAtOnce - 1) / kFloatsAtOnce,
           MapFloats<F, false>{f, in, {}, out, y.size(), is_aligned(x.data) && is_aligned(y.data)});
}
template <class F>
void map_floats(NativeStream* stream, const char* name, const F& f, const Tensor& a,
                const Tensor& b, const Tensor& y) {
  for_each(stream, name, (y.size() + kFloatsAtOnce - 1) / kFloatsAtOnce,
           MapFloats<F, true>{f,
                              {a.data, a.dtype},
                              {b.data, b.dtype},
                              {y.data, y.dtype},
                              y.size(),
                              is_aligned(a.data) && is_aligned(b.data) && is_aligned(y.data)});
}

}  // namespace cuda
}  // namespace mxnet
