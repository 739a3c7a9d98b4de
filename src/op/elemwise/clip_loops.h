// SPDX-License-Identifier: Apache-2.0
// The compiled loops of clip and its gradient, of hard_sigmoid, which clips a line, of smooth_l1
// and its gradient, and of nan_to_num.
#pragma once
#include <cstdint>

#include "base/half.h"

namespace mxnet {

template <class T>
struct ClipLoops {
  // y[i] is x[i], or the limit that it is beyond. NaN passes through.
  void (*clip)(const T* x, T low, T high, T* y, int64_t n);
  // dx[i] is dy[i] where x[i] is within the limits, else 0.
  void (*slope)(const T* dy, const T* x, T low, T high, T* dx, int64_t n);
  // y[i] is alpha * x[i] + beta within [0, 1]. Null for integers.
  void (*line)(const T* x, T alpha, T beta, T* y, int64_t n);
  // smooth_l1 and its gradient (parametric_functions.h).
  void (*smooth)(const T* x, T square, T* y, int64_t n);
  void (*smooth_slope)(const T* dy, const T* x, T square, T* dx, int64_t n);
};

// T: float, double and the integers.
template <class T>
ClipLoops<T> clip_loops();

// y[i] is x[i] where that is finite, else what is given for NaN and the infinities. T: any floating
// type, float16 and bfloat16 by their bits.
template <class T>
using FiniteLoop = void (*)(const T* x, T nan, T high, T low, T* y, int64_t n);
template <class T>
FiniteLoop<T> finite_loop();

}  // namespace mxnet
