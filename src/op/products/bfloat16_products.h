// SPDX-License-Identifier: Apache-2.0
// Products of matrices of bfloat16 from and to bfloat16 as it lies, where the processor multiplies
// pairs of it: no array of floats is made of a factor or of the result.
#pragma once
#include <cstdint>

#include "base/half.h"
#include "op/kernel.h"

namespace mxnet {

// `count` products of dense matrices, one after the other: c = op(a) op(b).
struct Bfloat16Products {
  bool transpose_a, transpose_b;
  int64_t m, n, k;
  const bfloat16 *a, *b;
  bfloat16* c;
  int64_t count = 1;
};

// Whether multiply() is for products of this size on this processor.
bool multiplies_bfloat16(int64_t m, int64_t n, int64_t k);

// Sums are those of packed_bfloat16.h, rounded once. In all threads, with scratch from `context`.
void multiply(const Bfloat16Products& products, KernelContext& context);

}  // namespace mxnet
