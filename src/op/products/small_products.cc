// SPDX-License-Identifier: Apache-2.0
// Compiles the loops for each instruction set.
#include "op/products/small_products.h"

#include <utility>

#include "base/simd.h"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/products/small_products.inc"
#include "base/simd_wide_targets.h"

}  // namespace

template <class T>
SmallProductLoop<T> small_product_loop() {
  return MX_SIMD_WIDE_AT(simd_level(), multiply_small<T>);
}

template <class T>
OuterProductLoop<T> outer_product_loop() {
  return MX_SIMD_WIDE_AT(simd_level(), multiply_outer<T>);
}

template SmallProductLoop<float> small_product_loop();
template SmallProductLoop<double> small_product_loop();
template OuterProductLoop<float> outer_product_loop();
template OuterProductLoop<double> outer_product_loop();

}  // namespace mxnet
