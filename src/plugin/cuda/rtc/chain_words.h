// SPDX-License-Identifier: Apache-2.0
// What kernels made of chains of operators (chain_source.h) are written in, beside row_words.h:
// stored types, conversions as op/loops/convert.h has them, groups of elements that one thread
// moves at once. Source text for NVRTC, so it includes nothing; a test compiles it for the host,
// where MX_WIDEN_HALF and MX_NARROW_HALF stand in for the GPU's instructions.
#pragma once

namespace mxnet {
namespace row_words {

using int8_t = signed char;
using uint8_t = unsigned char;
using int32_t = int;
using int64_t = long long;

struct float16 {
  unsigned short bits;
};
struct bfloat16 {
  unsigned short bits;
};

// The type that a stored one is computed in: half types in float, bool as uint8.
template <class T>
struct Compute {
  using type = T;
};
template <>
struct Compute<float16> {
  using type = float;
};
template <>
struct Compute<bfloat16> {
  using type = float;
};
template <>
struct Compute<bool> {
  using type = uint8_t;
};

template <class A, class B>
struct Same {
  static constexpr bool value = false;
};
template <class A>
struct Same<A, A> {
  static constexpr bool value = true;
};

MX_DEVICE float widen_half(float16 x) {
#ifdef __CUDA_ARCH__
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
  return y;
#else
  return MX_WIDEN_HALF(0, x.bits);
#endif
}
MX_DEVICE float widen_half(bfloat16 x) {
#ifdef __CUDA_ARCH__
  return __uint_as_float(static_cast<unsigned>(x.bits) << 16);
#else
  return MX_WIDEN_HALF(1, x.bits);
#endif
}
MX_DEVICE void narrow_half(float x, float16& y) {
#ifdef __CUDA_ARCH__
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
#else
  y.bits = MX_NARROW_HALF(0, x);
#endif
}
MX_DEVICE void narrow_half(float x, bfloat16& y) {
#ifdef __CUDA_ARCH__
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
#else
  y.bits = MX_NARROW_HALF(1, x);
#endif
}

template <class T>
MX_DEVICE typename Compute<T>::type widen(T x) {
  return x;
}
MX_DEVICE float widen(float16 x) { return widen_half(x); }
MX_DEVICE float widen(bfloat16 x) { return widen_half(x); }

// A number in the stored type To.
template <class To>
struct Narrow {
  template <class From>
  MX_DEVICE static To from(From x) {
    if constexpr (Kind<From>::kReal && !Kind<To>::kReal)
      return truncated<To>(x);
    else
      return static_cast<To>(x);
  }
};
template <>
struct Narrow<bool> {
  template <class From>
  MX_DEVICE static bool from(From x) {
    return x != From(0);
  }
};
template <>
struct Narrow<float16> {
  template <class From>
  MX_DEVICE static float16 from(From x) {
    float16 y;
    narrow_half(static_cast<float>(x), y);
    return y;
  }
};
template <>
struct Narrow<bfloat16> {
  template <class From>
  MX_DEVICE static bfloat16 from(From x) {
    bfloat16 y;
    narrow_half(static_cast<float>(x), y);
    return y;
  }
};

// A computed number with the precision of the stored type: what a later operator would read.
template <class Stored, class From>
MX_DEVICE typename Compute<Stored>::type as(From x) {
  if constexpr (Same<Stored, From>::value)
    return x;
  else
    return widen(Narrow<Stored>::from(x));
}

template <class T, int kSize>
struct alignas(sizeof(T) * kSize) Pack {
  T values[kSize];
};

}  // namespace row_words
}  // namespace mxnet
