// SPDX-License-Identifier: Apache-2.0
// Compiles the loops for each instruction set and width.
#include "op/moving/spread_rows.h"

#include "base/simd.h"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/moving/spread_rows.inc"
#include "base/simd_targets.h"

}  // namespace

#define MX_WIDTH(T)                                                                       \
  template <>                                                                             \
  void spread_short_rows<T>(const char* in, int64_t in_step, char* out, int64_t out_step, \
                            int64_t count, int64_t rows) {                                \
    MX_SIMD_CALL_FOR_TRAFFIC(spread<T>)(in, in_step, out, out_step, count, rows);         \
  }
MX_WIDTH(uint8_t)
MX_WIDTH(uint16_t)
MX_WIDTH(uint32_t)
MX_WIDTH(uint64_t)
#undef MX_WIDTH

}  // namespace mxnet
