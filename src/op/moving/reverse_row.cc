// SPDX-License-Identifier: Apache-2.0
// Compiles the loops for each instruction set and width.
#include "op/moving/reverse_row.h"

#include <type_traits>
#include <utility>

#include "base/simd.h"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/moving/reverse_row.inc"
#include "base/simd_targets.h"

}  // namespace

#define MX_WIDTH(width)                                                                    \
  template <>                                                                              \
  void reverse_rows<width>(const char* last, int64_t in_step, char* out, int64_t out_step, \
                           int64_t n, int64_t rows) {                                      \
    MX_SIMD_CALL(reverse<width>)(last, in_step, out, out_step, n * width, rows);           \
  }
MX_WIDTH(1)
MX_WIDTH(2)
MX_WIDTH(4)
MX_WIDTH(8)
#undef MX_WIDTH
#define MX_WIDTH(width, T)                                                                 \
  template <>                                                                              \
  void alternate_rows<width>(const char* in, int64_t in_step, char* out, int64_t out_step, \
                             int64_t n, int64_t rows) {                                    \
    MX_SIMD_CALL_FOR_TRAFFIC(alternate<T>)(in, in_step, out, out_step, n * width, rows);   \
  }
MX_WIDTH(1, uint8_t)
MX_WIDTH(2, uint16_t)
MX_WIDTH(4, uint32_t)
MX_WIDTH(8, uint64_t)
#undef MX_WIDTH

}  // namespace mxnet
