// SPDX-License-Identifier: Apache-2.0
// Compiles the loops of the update rules for each instruction set.
#include "op/optim/update_loops.h"

#include "base/simd.h"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/optim/update_loops.inc"
#include "base/simd_targets.h"

}  // namespace

template <class T>
UpdateLoop<T> update_loop(UpdateRule rule) {
  return MX_SIMD_CALL(update_loop<T>)(rule);
}

template <class T>
double sum_squares(const T* values, int64_t n) {
  return MX_SIMD_CALL(sum_squares<T>)(values, n);
}

template UpdateLoop<float> update_loop(UpdateRule);
template UpdateLoop<double> update_loop(UpdateRule);
template double sum_squares(const float*, int64_t);
template double sum_squares(const double*, int64_t);

}  // namespace mxnet
