// SPDX-License-Identifier: Apache-2.0
// Compiles the loops for each instruction set.
#include "op/rows/column_loops.h"

#include "base/simd.h"

// Vectors are passed between functions that are always inlined: no call, no ABI to warn of.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/rows/column_loops.inc"
#include "base/simd_wide_targets.h"

}  // namespace

template <class T>
ColumnLoop<T> column_loop(BinaryRow row, bool left, int64_t n) {
  const auto loop = MX_SIMD_WIDE_AT(simd_level_for_traffic(), column_loop<T>);
  return loop == nullptr ? nullptr : loop(row, left, n);
}

template ColumnLoop<float> column_loop(BinaryRow, bool, int64_t);
template ColumnLoop<double> column_loop(BinaryRow, bool, int64_t);

}  // namespace mxnet
