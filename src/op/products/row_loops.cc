// SPDX-License-Identifier: Apache-2.0
// Compiles the loops for each instruction set.
#include "op/products/row_loops.h"

#include "base/simd.h"

// Vectors are passed between functions that are always inlined: no call, no ABI to warn of.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/products/row_loops.inc"
#include "base/simd_wide_targets.h"

}  // namespace

template <class T>
const RowLoops<T>* row_loops() {
  return MX_SIMD_WIDE_AT(simd_level(), all_row_loops<T>);
}

template const RowLoops<float>* row_loops();
template const RowLoops<double>* row_loops();

}  // namespace mxnet
