// SPDX-License-Identifier: Apache-2.0
// Choosing between two arrays by a condition, and lines with one marked place. Elements are moved
// by their size, conditions and positions are read in whatever type they have.
#include <cstring>
#include <type_traits>

#include "op/run/element_size.h"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/lines.cuh"
#include "plugin/cuda/primitives.h"
#include "plugin/cuda/walk.h"

namespace mxnet {
namespace cuda {
namespace {

// Whether elements of any type are not zero.
struct Holds {
  const void* data;
  DType dtype;
  MX_DEVICE bool operator()(int64_t j) const {
    switch (dtype) {
#define MX_CASE(name, type, tag)                                 \
  case DType::tag: {                                             \
    const auto value = widen(static_cast<const type*>(data)[j]); \
    return value != decltype(value)(0);                          \
  }
      MX_DTYPES(MX_CASE)
#undef MX_CASE
      case DType::kUnknown:
        break;
    }
    return false;
  }
};

template <class E>
struct Choose {
  Holds condition;
  const E *x, *y;
  E* out;
  Walk<3> walk;  // condition, x, y
  MX_DEVICE void operator()(int64_t i) const {
    int64_t at[3];
    walk.offsets(i, at);
    out[i] = condition(at[0]) ? x[at[1]] : y[at[2]];
  }
};

template <class E>
struct OneHot {
  Integers positions;  // NaN is the least one, which lies in no line
  E on, off;
  E* out;
  int64_t depth;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t line = i / depth;
    out[i] = positions(line) == i - line * depth ? on : off;
  }
};

}  // namespace

void choose(NativeStream* stream, const Tensor& condition, const Tensor& x, const Tensor& y,
            const Tensor& out) {
  const Walk<3> walk = broadcast_walk<3>({&condition.shape(), &x.shape(), &y.shape()}, out.shape());
  dispatch_bytes(dtype_size(out.dtype), [&](auto unit) {
    using E = decltype(unit);
    for_each(stream, "where", out.size(),
             Choose<E>{{condition.data, condition.dtype}, x.as<E>(), y.as<E>(), out.as<E>(), walk});
  });
}

void one_hot(NativeStream* stream, const Tensor& positions, double on, double off,
             const Tensor& out) {
  if (out.size() == 0) return;
  // The two values as an element has them.
  uint64_t bits[2] = {0, 0};
  for_dtype(out.dtype, "one_hot", [&](auto type) {
    using T = decltype(type);
    const T values[2] = {narrow<T>(on), narrow<T>(off)};
    std::memcpy(&bits[0], &values[0], sizeof(T));
    std::memcpy(&bits[1], &values[1], sizeof(T));
  });
  dispatch_bytes(dtype_size(out.dtype), [&](auto unit) {
    using E = decltype(unit);
    for_each(stream, "one_hot", out.size(),
             OneHot<E>{{positions.data, positions.dtype},
                       static_cast<E>(bits[0]),
                       static_cast<E>(bits[1]),
                       out.as<E>(),
                       out.dim(out.ndim() - 1)});
  });
}

}  // namespace cuda
}  // namespace mxnet
