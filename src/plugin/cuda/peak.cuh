// SPDX-License-Identifier: Apache-2.0
// What normalises the exponentials of a row, found in parts that meet in any order.
#pragma once
#include <cmath>

#include "plugin/cuda/row_words.h"

namespace mxnet::cuda {

// The largest of some numbers, and the sum of exponentials of what they are below it. Sum 0: none.
template <class C>
struct Peak {
  C top, sum;
};

template <class C>
MX_DEVICE Peak<C> joined(Peak<C> a, Peak<C> b) {
  if (a.sum == C(0)) return b;
  if (b.sum == C(0)) return a;
  const C top = row_words::larger(a.top, b.top);
  // All are as large as the largest, although the difference of two of them is no number.
  if (top == -static_cast<C>(INFINITY)) return {top, a.sum + b.sum};
  return {top, a.sum * row_words::exp(a.top - top) + b.sum * row_words::exp(b.top - top)};
}

}  // namespace mxnet::cuda
