// SPDX-License-Identifier: Apache-2.0
// cuBLASLt, opened when a product is first asked for: a plug-in without it loads and says what is
// missing. And how a product is computed, as a pure function of types and configuration.
#pragma once
#include <cublasLt.h>

#include "base/config.h"
#include "base/dtype.h"

namespace mxnet::cuda {

// Thread-safe; lives as long as the process.
struct CublasLt {
  // Throws Error(kGeneric) that names the library and what is wrong with it.
  static const CublasLt& get();

  decltype(&cublasLtCreate) create;
  decltype(&cublasLtMatmulDescCreate) desc_create;
  decltype(&cublasLtMatmulDescDestroy) desc_destroy;
  decltype(&cublasLtMatmulDescSetAttribute) desc_set;
  decltype(&cublasLtMatrixLayoutCreate) layout_create;
  decltype(&cublasLtMatrixLayoutDestroy) layout_destroy;
  decltype(&cublasLtMatrixLayoutSetAttribute) layout_set;
  decltype(&cublasLtMatmulPreferenceCreate) preference_create;
  decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy;
  decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic;
  decltype(&cublasLtMatmul) matmul;
};

struct GemmTypes {
  cudaDataType_t data, scale;  // of matrices; of alpha and beta
  cublasComputeType_t compute;
};
// MXNET_CUDA_ALLOW_TENSOR_CORE, MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION, MXNET_FC_TRUE_FP16.
// Throws Error(kType) for types that are not floating.
GemmTypes gemm_types(DType dtype, const CudaConfig& config);

}  // namespace mxnet::cuda
