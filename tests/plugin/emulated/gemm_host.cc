// SPDX-License-Identifier: Apache-2.0
// Matrix products for the emulated plug-in, in place of cuBLASLt: one dot product after the other.
// As there, float64 has no epilogues.
#include "base/error.h"
#include "plugin/cuda/elements.cuh"
#include "plugin/cuda/primitives.h"
#include "plugin/cuda/product_steps.h"

namespace mxnet::cuda {

void gemm_with(NativeStream* stream, const GemmCall& call, const ProductSteps& steps,
               KernelContext& context) {
  const bool epilogues = call.dtype != DType::kFloat64;
  for_dtype<kFloating.bits_>(call.dtype, "gemm", [&](auto type) {
    using T = decltype(type);
    for (int64_t i = 0; i < call.batch * call.m * call.n; ++i) {
      const int64_t column = i % call.n, row = i / call.n % call.m, which = i / call.n / call.m;
      const T* a = static_cast<const T*>(call.a) + which * call.step_a;
      const T* b = static_cast<const T*>(call.b) + which * call.step_b;
      double sum = 0;
      for (int64_t k = 0; k < call.k; ++k) {
        sum += double(widen(a[call.transpose_a ? k * call.lda + row : row * call.lda + k])) *
               double(widen(b[call.transpose_b ? column * call.ldb + k : k * call.ldb + column]));
      }
      sum *= call.alpha;
      if (epilogues && call.bias != nullptr)
        sum += double(widen(static_cast<const T*>(call.bias)[column]));
      if (epilogues && steps.relu && sum < 0) sum = 0;
      static_cast<T*>(call.c)[which * call.step_c + row * call.ldc + column] = narrow<T>(sum);
    }
    for (int64_t row = 0; epilogues && steps.sums_a != nullptr && row < call.m; ++row) {
      double sum = 0;
      for (int64_t k = 0; k < call.k; ++k)
        sum += double(widen(static_cast<const T*>(
            call.a)[call.transpose_a ? k * call.lda + row : row * call.lda + k]));
      static_cast<T*>(steps.sums_a)[row] = narrow<T>(sum);
    }
  });
  if (!epilogues && call.m > 0 && call.n > 0) finish_product(stream, call, steps, context);
}

}  // namespace mxnet::cuda
