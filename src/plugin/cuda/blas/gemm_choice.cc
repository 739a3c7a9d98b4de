// SPDX-License-Identifier: Apache-2.0
// The table behind gemm_choice.
#include "plugin/cuda/blas/gemm_choice.h"

#include <fmt/format.h>

#include "base/config.h"
#include "base/error.h"

namespace mxnet::cuda {
namespace {

// cuBLASLt is column-major: its second factor is our left one. (Its GELU is the approximation by
// tanh, which is not the operator's.)
cublasLtEpilogue_t epilogue(const GemmRequest& request) {
  if (request.sums_a) return CUBLASLT_EPILOGUE_BGRADB;
  if (request.relu) return request.bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
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
      choice.epilogue = CUBLASLT_EPILOGUE_DEFAULT;  // there are none
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
        // Products are what the variable is about: a gradient's sum stays one of floats.
        if (request.sums_a) choice.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
      }
      return choice;
    default:
      throw Error(ErrorCode::kType, "dot",
                  fmt::format("given type {}, expected a floating one", dtype_name(request.dtype)));
  }
}

std::optional<GemmChoice> with_tensor_cores(const GemmChoice& choice) {
  if (choice.elements != CUDA_R_16F && choice.elements != CUDA_R_16BF) return std::nullopt;
  GemmChoice wider = choice;
  switch (choice.compute) {
    case CUBLAS_COMPUTE_32F_PEDANTIC:
      wider.compute = CUBLAS_COMPUTE_32F;
      return wider;
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      wider.compute = CUBLAS_COMPUTE_16F;
      return wider;
    default:
      return std::nullopt;
  }
}

}  // namespace mxnet::cuda
