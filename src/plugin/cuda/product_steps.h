// SPDX-License-Identifier: Apache-2.0
// What is done behind a product beside adding its bias: by the library that multiplies where it has
// an epilogue for it, by kernels of ours where not.
#pragma once
#include "op/run/gpu_table.h"

namespace mxnet::cuda {

struct ProductSteps {
  bool relu = false;       // negative results become 0, after the bias
  void* sums_a = nullptr;  // m numbers, written: sums over k of op(a); without bias and relu
};

// gemm() and these. REQUIRES: where there is a bias or a step, one product, whose rows lie one
// behind the other; sums are of a left factor that is transposed.
void gemm_with(NativeStream* stream, const GemmCall& call, const ProductSteps& steps,
               KernelContext& context);
// The same without bias and steps, of integers.
void multiply_integers(NativeStream* stream, const GemmCall& call);
// Whether tensor cores may multiply rows of k numbers of int8 into rows of n sums: by variable, by
// cuBLASLt's documentation, and so that no sum leaves int32.
bool are_bytes_for_tensor_cores(int64_t n, int64_t k);
// c[m, n] = a[m, k] b[n, k]^T of int8, as exact sums in int32, on tensor cores. False where arrays
// lie so that cuBLASLt has no product, or the GPU has none: nothing is written then. REQUIRES: such
// rows, one behind the other in each array; one product without bias.
bool multiply_bytes(NativeStream* stream, const GemmCall& call, KernelContext& context);
// The bias and the steps alone, once the product is there.
void finish_product(NativeStream* stream, const GemmCall& call, const ProductSteps& steps,
                    KernelContext& context);

}  // namespace mxnet::cuda
