// SPDX-License-Identifier: Apache-2.0
// Kernels that move elements without computing: conversion, filling, and copies along any steps.
#include <cstring>

#include "op/strided_copy.h"
#include "plugin/cuda/map.cuh"
#include "plugin/cuda/primitives.h"
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
  MX_DEVICE void operator()(int64_t i) const { to[i] = value; }
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
void run_copy(NativeStream* stream, const StridedPlan& plan, const void* in, void* out) {
  Walk<2> walk;
  int64_t n = 1;
  for (const StridedPlan::Dim& dim : plan.dims()) {
    n *= dim.size;
    if (dim.size != 1 && walk.ndim == Walk<2>::kMax)
      throw Error(ErrorCode::kValue, "copy",
                  "given more than 32 dimensions that do not merge, expected at most 32 on a GPU");
    walk.add(dim.size, {dim.in_step, dim.out_step});
  }
  for_each(stream, "copy_strided", n,
           StridedCopy<E>{static_cast<const E*>(in) + plan.in_offset,
                          static_cast<E*>(out) + plan.out_offset, walk});
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
    for_each(stream, "fill", to.size(), Fill<T>{to.as<T>(), narrow<T>(value)});
  });
}

void copy_strided(NativeStream* stream, const StridedPlan& plan, const void* in, void* out,
                  std::size_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return run_copy<uint8_t>(stream, plan, in, out);
    case 2:
      return run_copy<uint16_t>(stream, plan, in, out);
    case 4:
      return run_copy<uint32_t>(stream, plan, in, out);
    case 8:
      return run_copy<uint64_t>(stream, plan, in, out);
    default:
      MX_ASSERT(element_bytes == 8);
  }
}

}  // namespace cuda
}  // namespace mxnet
