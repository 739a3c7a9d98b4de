// SPDX-License-Identifier: Apache-2.0
// Compiles the loops of the normalisations for each instruction set.
#include "op/norm/norm_loops.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/simd.h"
#include "base/simd_intrinsics.h"
#include "op/math/vector_math.h"

// Vectors are passed between functions that are always inlined: no call, no ABI to warn of.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace mxnet {
namespace {

using row_math::exp, row_math::log, row_math::MathConstants, row_math::power_of_two,
    row_math::reduced_expm1;

#define MX_SIMD_FILE "op/norm/norm_loops.inc"
#include "base/simd_targets.h"

}  // namespace

template <class C>
const NormLoops<C>& norm_loops() {
  static const NormLoops<C>* const table = MX_SIMD_CALL(norm_table<C>)();
  return *table;
}

template const NormLoops<float>& norm_loops();
template const NormLoops<double>& norm_loops();

}  // namespace mxnet
