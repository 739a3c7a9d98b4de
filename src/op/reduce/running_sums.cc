// SPDX-License-Identifier: Apache-2.0
// Compiles the running sums for each instruction set that has four doubles in a register.
#include "op/reduce/running_sums.h"

#include "base/simd.h"
#include "base/simd_intrinsics.h"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/reduce/running_sums.inc"
#include "base/simd_wide_targets.h"

}  // namespace

template <class T>
RunningSums<T> running_sums(bool reverse) {
  // Of 512 bits it would take nothing more.
  const int level = simd_level() > 0 ? 1 : 0;
  return reverse ? MX_SIMD_WIDE_AT(level, sum_rows<T, true>)
                 : MX_SIMD_WIDE_AT(level, sum_rows<T, false>);
}

template RunningSums<float> running_sums(bool);
template RunningSums<double> running_sums(bool);

}  // namespace mxnet
