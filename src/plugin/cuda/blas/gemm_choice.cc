// SPDX-License-Identifier: Apache-2.0
// The table behind gemm_choice.
#include "plugin/cuda/blas/gemm_choice.h"

#include <fmt/format.h>

#include "base/error.h"

namespace mxnet::cuda {
namespace {

cublasLtEpilogue_t epilogue(const GemmRequest& request) {
  switch (request.activation) {
    case GemmActivation::kRelu:
      return request.bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    case GemmActivation::kGelu:
      return request.bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
    case GemmActivation::kNone:
      break;
  }
  return request.bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
}

// "Pedantic" keeps a library from tensor cores and from other types than it was asked for.
cublasComputeType_t float_sums(const CudaConfig& config, bool half) {
  if (!config.allow_tensor_core) return CUBLAS_COMPUTE_32F_PEDANTIC;
  if (!half && config.tensor_op_math_allow_conversion) return CUBLAS_COMPUTE_32F_FAST_16F;
  return CUBLAS_COMPUTE_32F;
}

}  // namespace

GemmChoice gemm_choice(const CudaConfig& config, const GemmRequest& request) {
  GemmChoice choice{CUDA_R_32F, CUDA_R_32F, float_sums(config, false), epilogue(request)};
  switch (request.dtype) {
    case DType::kFloat32:
      return choice;
    case DType::kFloat64:
      choice.elements = choice.scale = CUDA_R_64F;
      choice.compute = config.allow_tensor_core ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_64F_PEDANTIC;
      return choice;
    case DType::kBFloat16:
      choice.elements = CUDA_R_16BF;
      choice.compute = float_sums(config, true);
      return choice;
    case DType::kFloat16:
      choice.elements = CUDA_R_16F;
      choice.compute = float_sums(config, true);
      if (request.fully_connected && config.fc_true_fp16) {
        choice.scale = CUDA_R_16F;
        choice.compute =
            config.allow_tensor_core ? CUBLAS_COMPUTE_16F : CUBLAS_COMPUTE_16F_PEDANTIC;
      }
      return choice;
    default:
      throw Error(ErrorCode::kType, "dot",
                  fmt::format("given type {}, expected a floating one", dtype_name(request.dtype)));
  }
}

}  // namespace mxnet::cuda
