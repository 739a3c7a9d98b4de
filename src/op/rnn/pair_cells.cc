// SPDX-License-Identifier: Apache-2.0
// Compiles the loops of the cells of pairs.
#include "op/rnn/pair_cells.h"

#include "base/simd.h"
#include "base/simd_intrinsics.h"

namespace mxnet::rnn::pair_sums {
namespace {

#define MX_SIMD_FILE "op/rnn/pair_cells.inc"
#include "base/simd_wide_targets.h"
#undef MX_SIMD_FILE

}  // namespace

void run_cells(const PairCells& cells, int64_t rows) { MX_SIMD_WIDE_AT(2, run_cells)(cells, rows); }

}  // namespace mxnet::rnn::pair_sums
