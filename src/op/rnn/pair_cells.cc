// SPDX-License-Identifier: Apache-2.0
// Compiles the loops of the cells of pairs.
#include "op/rnn/pair_cells.h"

#include <initializer_list>

#include "base/prefetch.h"
#include "base/simd.h"
#include "base/simd_intrinsics.h"

namespace mxnet::rnn::pair_sums {
namespace {

#define MX_SIMD_FILE "op/rnn/pair_cells.inc"
#include "base/simd_wide_targets.h"
#undef MX_SIMD_FILE

}  // namespace

void fetch_states(const PairCells& cells, int64_t rows) {
  constexpr int64_t kLine = 16;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t i = 0; i < kWidth; i += kLine) {
      const int64_t at = r * cells.states_apart + i, out = r * cells.y_apart + i;
      for (const float* line : {cells.first_c + at, cells.second_c + at, cells.first_h + at,
                                cells.second_h + at, cells.first_y + out, cells.second_y + out})
        prefetch_for_write(line);
    }
  }
}

void run_cells(const PairCells& cells, int64_t rows) { MX_SIMD_WIDE_AT(2, run_cells)(cells, rows); }

}  // namespace mxnet::rnn::pair_sums
