// SPDX-License-Identifier: Apache-2.0
// Compiles the sums of products of integers for each instruction set.
#include "op/products/integer_products.h"

#include "base/simd.h"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/products/integer_products.inc"
#include "base/simd_targets.h"

}  // namespace

template <class T>
IntegerProducts<T> integer_products() {
  return MX_SIMD_CALL(loops<T>)();
}

uint8_t dot_bytes(const uint8_t* a, const uint8_t* b, int64_t n) {
  return MX_SIMD_CALL(dot_bytes)(a, b, n);
}

template IntegerProducts<uint32_t> integer_products();
template IntegerProducts<uint64_t> integer_products();

}  // namespace mxnet
