// SPDX-License-Identifier: Apache-2.0
// Sums of which many threads have a part.
#pragma once
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/primitives.h"

namespace mxnet {
namespace cuda {

template <class F>
struct InOrder {
  F f;
  int64_t each;
  MX_DEVICE void operator()(int64_t part) const {
    for (int64_t i = part * each; i < (part + 1) * each; ++i) f(i);
  }
};

// f(i) for 0 <= i < parts * each, which adds (atomic_add) to sums of part i / each alone. In any
// order; where results must repeat, a thread for each part, in the order of i.
template <class F>
void scatter(NativeStream* stream, const char* name, int64_t parts, int64_t each, const F& f) {
  if (sums_in_order())
    for_each(stream, name, parts, InOrder<F>{f, each});
  else
    for_each(stream, name, parts * each, f);
}

}  // namespace cuda
}  // namespace mxnet
