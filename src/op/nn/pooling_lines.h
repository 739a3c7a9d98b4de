// SPDX-License-Identifier: Apache-2.0
// Inner loops of pooling, over lines of an image or a map, compiled for each instruction set.
#pragma once
#include <cstdint>
#include <type_traits>

namespace mxnet {

// T is float or double. Pixels of a plane are counted in integers of the same size, so that a
// vector register holds as many of both.
template <class T>
struct PoolLines {
  using Pixel = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;

  // to[i] = the larger of both, from[i * stride] being the other; NaN there gives way.
  void (*raise)(T* to, const T* from, int64_t stride, int64_t n);
  // to[i] += from[i * stride]
  void (*add)(T* to, const T* from, int64_t stride, int64_t n);
  // Where from[i * stride] is larger than best[i], it replaces it, and where[i] becomes its pixel,
  // `first` being that of from[0].
  void (*find)(T* best, Pixel* where, const T* from, Pixel first, int64_t stride, int64_t n);
};
template <class T>
const PoolLines<T>& pool_lines();

}  // namespace mxnet
