// SPDX-License-Identifier: Apache-2.0
// Compiles the loops for each instruction set and width.
#include "op/moving/reverse_row.h"

#include "base/simd.h"

namespace mxnet {
namespace {

struct Block16 {
  uint64_t low, high;
};

#define MX_SIMD_FILE "op/moving/reverse_row.inc"
#include "base/simd_targets.h"

}  // namespace

#define MX_WIDTH(width, T)                                          \
  template <>                                                       \
  void reverse_row<width>(const char* last, char* out, int64_t n) { \
    MX_SIMD_CALL(reverse<T>)(last, out, n);                         \
  }
MX_WIDTH(1, uint8_t)
MX_WIDTH(2, uint16_t)
MX_WIDTH(4, uint32_t)
MX_WIDTH(8, uint64_t)
MX_WIDTH(16, Block16)
#undef MX_WIDTH
template <>
void alternate_row<4>(const char* in, char* out, int64_t n) {
  MX_SIMD_CALL_FOR_TRAFFIC(alternate<uint32_t>)(in, out, n);
}
template <>
void alternate_row<8>(const char* in, char* out, int64_t n) {
  MX_SIMD_CALL_FOR_TRAFFIC(alternate<uint64_t>)(in, out, n);
}

}  // namespace mxnet
