// SPDX-License-Identifier: Apache-2.0
// Compiles the inner loops of pooling for each instruction set.
#include "op/nn/pooling_lines.h"

#include <type_traits>
#include <utility>

#include "base/simd.h"

// Vectors are passed between functions that are always inlined: no call, no ABI to warn of.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/nn/pooling_lines.inc"
#include "base/simd_targets.h"
#undef MX_SIMD_FILE

}  // namespace

template <class T>
const PoolLines<T>& pool_lines() {
  static const PoolLines<T> lines{MX_SIMD_CALL(raise<T>),         MX_SIMD_CALL(add<T>),
                                  MX_SIMD_CALL(add_squares<T>),   MX_SIMD_CALL(find<T>),
                                  MX_SIMD_CALL(spread_window<T>), MX_SIMD_CALL(find_first<T>),
                                  MX_SIMD_CALL(add_where<T>),     MX_SIMD_CALL(part<T>),
                                  MX_SIMD_CALL(weave<T>),         MX_SIMD_CALL(spread_of_four<T>)};
  return lines;
}

template const PoolLines<float>& pool_lines<float>();
template const PoolLines<double>& pool_lines<double>();

}  // namespace mxnet
