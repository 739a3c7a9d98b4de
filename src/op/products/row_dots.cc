// SPDX-License-Identifier: Apache-2.0
// Compiles the loops for each instruction set.
#include "op/products/row_dots.h"

#include <type_traits>

#include "base/simd.h"

// Vectors are passed between functions that are always inlined: no call, no ABI to warn of.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/products/row_dots.inc"
#include "base/simd_wide_targets.h"

}  // namespace

template <class T>
RowDotsLoop<T> row_dots_loop() {
  return MX_SIMD_WIDE_AT(simd_level(), row_dots<T>);
}

template RowDotsLoop<float> row_dots_loop();
template RowDotsLoop<double> row_dots_loop();

}  // namespace mxnet
