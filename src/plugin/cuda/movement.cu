// SPDX-License-Identifier: Apache-2.0
// Kernels that move elements without computing: conversion, filling, and copies along any steps.
#include <cstring>

#include "op/moving/strided_copy.h"
#include "plugin/cuda/map.cuh"
#include "plugin/cuda/primitives.h"
#include "plugin/cuda/turned_tiles.cuh"
#include "plugin/cuda/walk.h"

namespace mxnet {
namespace cuda {
namespace {

struct Same {
  template <class T>
  MX_DEVICE T operator()(T x) const {
    return x;
  }
};

template <class T>
struct Fill {
  T* to;
  T value;
  int64_t n;
  bool aligned;
  MX_DEVICE void operator()(int64_t pack) const {
    constexpr int kSize = kPackSize<T>;
    Pack<T, kSize> out;
#pragma unroll
    for (int k = 0; k < kSize; ++k) out.values[k] = value;
    store_pack(to, pack * kSize, n, aligned && (pack + 1) * kSize <= n, out);
  }
};

// E has the size of an element.
template <class E>
struct StridedCopy {
  const E* in;
  E* out;
  Walk<2> walk;
  MX_DEVICE void operator()(int64_t i) const {
    int64_t at[2];
    walk.offsets(i, at);
    out[at[1]] = in[at[0]];
  }
};

template <class E>
void run_copy(NativeStream* stream, const Walk<2>& walk, int64_t n, const void* in, void* out) {
  if constexpr (sizeof(E) < kVectorBytes)
    if (copy_by_tiles<E>(stream, walk, n, in, out)) return;
  for_each(stream, "copy_strided", n,
           StridedCopy<E>{static_cast<const E*>(in), static_cast<E*>(out), walk});
}

// How many elements move at once: as many as fit 16 bytes and lie together in both arrays,
// wherever a thread begins.
int64_t elements_at_once(const Walk<2>& walk, const void* in, const void* out, int64_t bytes) {
  if (walk.ndim == 0) return 1;
  const int last = walk.ndim - 1;
  if (walk.steps[last][0] != 1 || walk.steps[last][1] != 1) return 1;
  uint64_t bits = reinterpret_cast<uintptr_t>(in) | reinterpret_cast<uintptr_t>(out) |
                  static_cast<uint64_t>(walk.sizes[last].by() * bytes);
  for (int d = 0; d < last; ++d)
    for (const int64_t step : walk.steps[d]) bits |= static_cast<uint64_t>(step * bytes);
  int64_t together = kVectorBytes;
  while (together > bytes && bits % static_cast<uint64_t>(together) != 0) together /= 2;
  return together / bytes;
}

}  // namespace

void convert(NativeStream* stream, const Tensor& from, const Tensor& to) {
  for_dtype(from.dtype, "Cast", [&](auto from_type) {
    using From = decltype(from_type);
    for_dtype(to.dtype, "Cast", [&](auto to_type) {
      using To = decltype(to_type);
      map_unary<From, To>(stream, "Cast", Same{}, from.data, to.data, to.size());
    });
  });
}

void fill(NativeStream* stream, const Tensor& to, double value) {
  for_dtype(to.dtype, "fill", [&](auto type) {
    using T = decltype(type);
    const int64_t n = to.size();
    for_each(stream, "fill", (n + kPackSize<T> - 1) / kPackSize<T>,
             Fill<T>{to.as<T>(), narrow<T>(value), n, is_aligned(to.data)});
  });
}

void copy_strided(NativeStream* stream, const StridedPlan& plan, const void* in, void* out,
                  std::size_t element_bytes) {
  const auto bytes = static_cast<int64_t>(element_bytes);
  Walk<2> walk;
  int64_t n = 1;
  for (const StridedPlan::Dim& dim : plan.dims()) {
    n *= dim.size;
    if (dim.size != 1 && walk.ndim == Walk<2>::kMax)
      throw Error(ErrorCode::kValue, "copy",
                  "given more than 32 dimensions that do not merge, expected at most 32 on a GPU");
    walk.add(dim.size, {dim.in_step, dim.out_step});
  }
  if (n == 0) return;
  const char* const from = static_cast<const char*>(in) + plan.in_offset * bytes;
  char* const to = static_cast<char*>(out) + plan.out_offset * bytes;
  const int64_t together = elements_at_once(walk, from, to, bytes);
  if (together > 1) {
    const int last = walk.ndim - 1;
    walk.sizes[last] = Divider(walk.sizes[last].by() / together);
    for (int d = 0; d < last; ++d)
      for (int64_t& step : walk.steps[d]) step /= together;
  }
  n /= together;
  switch (bytes * together) {
    case 1:
      return run_copy<uint8_t>(stream, walk, n, from, to);
    case 2:
      return run_copy<uint16_t>(stream, walk, n, from, to);
    case 4:
      return run_copy<uint32_t>(stream, walk, n, from, to);
    case 8:
      return run_copy<uint64_t>(stream, walk, n, from, to);
    default:
      MX_ASSERT(bytes * together == kVectorBytes);
      return run_copy<Pack<uint64_t, 2>>(stream, walk, n, from, to);
  }
}

}  // namespace cuda
}  // namespace mxnet
