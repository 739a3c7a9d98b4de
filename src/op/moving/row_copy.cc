// SPDX-License-Identifier: Apache-2.0
// Compiles the loops of row_copy.h for each instruction set.
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

void space_rows(const char* in, char* out, int64_t width, int64_t rows, const char* pattern,
                int64_t gap) {
  MX_SIMD_CALL(space_rows)(in, out, width, rows, pattern, gap);
}

}  // namespace mxnet
