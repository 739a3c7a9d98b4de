// SPDX-License-Identifier: Apache-2.0
// The elements that belong to one output of a reduction, for kernels of which each group of threads
// makes one output in its own way.
#pragma once
#include "op/reducing/reduce_plan.h"
#include "plugin/cuda/walk.h"

namespace mxnet {
namespace cuda {

struct Reduced {
  Walk<1> kept, reduced;
  int64_t outputs = 1, count = 1;  // outputs, and elements of each

  Reduced(const Shape& shape, AxisSet axes) {
    for (int d = 0; d < shape.ndim(); ++d) {
      const int64_t step[] = {shape.size(d + 1, shape.ndim())};
      const bool is_reduced = (axes >> d & 1) != 0;
      (is_reduced ? reduced : kept).add(shape[d], step);
      (is_reduced ? count : outputs) *= shape[d];
    }
  }
  // Where element k of output o is.
  MX_DEVICE int64_t at(int64_t o, int64_t k) const {
    int64_t first[1], further[1];
    kept.offsets(o, first);
    reduced.offsets(k, further);
    return first[0] + further[0];
  }
};

// Elements of an output for which a whole block takes care.
constexpr int64_t kLongLine = 1024;

}  // namespace cuda
}  // namespace mxnet
