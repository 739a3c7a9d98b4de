// SPDX-License-Identifier: Apache-2.0
// Elements in kernels: the type that arithmetic is done in, conversions between all types, and
// groups of 16 bytes that one thread moves at once.
#pragma once
#include <cstdint>
#include <type_traits>

#include "base/dtype.h"
#include "base/error.h"
#include "plugin/cuda/row_words.h"

namespace mxnet {
namespace cuda {

template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
// Half types are computed in float; bool is stored as 0 or 1 and read as uint8.
template <class T>
using Compute =
    std::conditional_t<kIsHalf<T>, float, std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>>;

// From the stored to the computed type, by the GPU's own conversions.
template <class T>
MX_DEVICE Compute<T> widen(T x) {
#ifdef __CUDA_ARCH__
  if constexpr (std::is_same_v<T, float16>) {
    float y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
    return y;
  } else if constexpr (std::is_same_v<T, bfloat16>) {
    return __uint_as_float(static_cast<unsigned>(x.bits) << 16);
  } else
#endif
    return static_cast<Compute<T>>(x);
}

// Any number to a stored type; the meaning is that of op/loops/convert.h.
template <class To, class From>
MX_DEVICE To narrow(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (kIsHalf<To>) {
#ifdef __CUDA_ARCH__
    To y;
    if constexpr (std::is_same_v<To, float16>)
      asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(static_cast<float>(x)));
    else
      asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(static_cast<float>(x)));
    return y;
#else
    return To(static_cast<float>(x));
#endif
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return row_words::truncated<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

constexpr int kVectorBytes = 16;  // the widest load of one thread

template <class T, int kSize>
struct alignas(sizeof(T) * kSize) Pack {
  static_assert(sizeof(T) * kSize <= kVectorBytes, "no load of one thread is wider");
  T values[kSize];
};
template <class T>
inline constexpr int kPackSize = kVectorBytes / static_cast<int>(sizeof(T));

inline bool is_aligned(const void* data) {
  return reinterpret_cast<uintptr_t>(data) % kVectorBytes == 0;
}

// fn(T{}) for the C++ type of `dtype`; what `Set` does not hold throws Error(kType).
template <uint16_t kSet = kAllTypes.bits_, class F>
void for_dtype(DType dtype, const char* op, const F& fn) {
  constexpr DTypeSet set = [] {
    DTypeSet s;
    s.bits_ = kSet;
    return s;
  }();
  switch (dtype) {
#define MX_CASE(name, type, tag)                               \
  case DType::tag:                                             \
    if constexpr (set.contains(DType::tag)) return fn(type{}); \
    break;
    MX_DTYPES(MX_CASE)
#undef MX_CASE
    case DType::kUnknown:
      break;
  }
  throw Error(
      ErrorCode::kType, op,
      "given type " + std::string(dtype_name(dtype)) + ", which its kernel on the GPU lacks");
}

}  // namespace cuda
}  // namespace mxnet
