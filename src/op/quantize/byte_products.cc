// SPDX-License-Identifier: Apache-2.0
// Compiles the products of bytes for each instruction set.
#include "op/quantize/byte_products.h"

#include "base/simd.h"

namespace mxnet::quantize {
namespace {

// Products of a uint8 and an int8 are at most 255 * 128: so many of them fit an int32.
constexpr int64_t kExact = int64_t{1} << 15;

#define MX_SIMD_FILE "op/quantize/byte_products.inc"
#include "base/simd_targets.h"

}  // namespace

void byte_products(int64_t m, int64_t n, int64_t k, const int16_t* a, const int16_t* b, int32_t* c,
                   int64_t ldc) {
  MX_SIMD_CALL(all_products)(m, n, padded_row(k), a, b, c, ldc);
}

}  // namespace mxnet::quantize
