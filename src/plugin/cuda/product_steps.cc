// SPDX-License-Identifier: Apache-2.0
// A launch for each step that the library lacks.
#include "plugin/cuda/product_steps.h"

#include "base/error.h"
#include "op/norm/activation_loops.h"
#include "op/reducing/evaluate.h"
#include "op/rows/binary_loops.h"
#include "plugin/cuda/primitives.h"

namespace mxnet::cuda {

void finish_product(NativeStream* stream, const GemmCall& call, const ProductSteps& steps,
                    KernelContext& context) {
  if (call.bias == nullptr && !steps.relu && steps.sums_a == nullptr) return;
  MX_ASSERT(call.batch == 1 && call.ldc == call.n);
  const Shape all{call.m, call.n}, row{1, call.n};
  const Tensor result{call.c, &all, call.dtype};
  if (call.bias != nullptr)
    binary(stream, static_cast<int>(BinaryRow::add), result,
           {const_cast<void*>(call.bias), &row, call.dtype}, result);
  if (steps.relu) activation(stream, static_cast<int>(ActivationRow::relu), 0, result, result);
  if (steps.sums_a == nullptr) return;
  MX_ASSERT(call.transpose_a && call.lda == call.m);
  const Shape left{call.k, call.m}, sums{call.m};
  constexpr uint32_t kRows = 1;  // axis 0
  const ReduceCall sum{.reduction = Reduction::sum, .wide = false};
  reduce(stream, sum, {const_cast<void*>(call.a), &left, call.dtype}, kRows,
         {steps.sums_a, &sums, call.dtype}, context);
}

void gemm(NativeStream* stream, const GemmCall& call, KernelContext& context) {
  if (!is_floating(call.dtype)) {
    MX_ASSERT(call.bias == nullptr);
    return multiply_integers(stream, call);
  }
  gemm_with(stream, call, {}, context);
}

}  // namespace mxnet::cuda
