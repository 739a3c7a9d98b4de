// SPDX-License-Identifier: Apache-2.0
// Compiles the loops of copy_rows for each instruction set.
#include "op/moving/row_copy.h"

#include "base/simd.h"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/moving/row_copy.inc"
#include "base/simd_targets.h"

}  // namespace

void copy_rows(const char* in, int64_t in_step, char* out, int64_t out_step, int64_t width,
               int64_t rows) {
  MX_SIMD_CALL(copy_rows)(in, in_step, out, out_step, width, rows);
}

}  // namespace mxnet
