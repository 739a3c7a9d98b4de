// SPDX-License-Identifier: Apache-2.0
// Compiles the loops of row_copy.h for each instruction set.
#include "op/moving/row_copy.h"

#include <cstddef>
#include <cstring>

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

void pack_pieces(const char* in, int64_t step, char* out, int64_t width, int64_t blocks,
                 int64_t parts) {
  constexpr int64_t kVector = 16;
  const char *const in_end = in + blocks * step, *const out_end = out + blocks * parts * width;
  for (int64_t part = 0; part < parts; ++part, in += width) {
    if (width >= kVector) {
      copy_rows(in, step, out, width, width, blocks);
      out += blocks * width;
      continue;
    }
    const char* from = in;
    for (int64_t block = 0; block < blocks; ++block, from += step, out += width) {
      // A whole vector, as long as it lies in both: what is too much is written over.
      if (in_end - from >= kVector && out_end - out >= kVector) {
        std::memcpy(out, from, kVector);
      } else {
        std::memcpy(out, from, static_cast<std::size_t>(width));
      }
    }
  }
}

void space_rows(const char* in, char* out, int64_t width, int64_t rows, const char* pattern,
                int64_t gap) {
  MX_SIMD_CALL(space_rows)(in, out, width, rows, pattern, gap);
}

}  // namespace mxnet
