// SPDX-License-Identifier: Apache-2.0
// dlopen of cuBLASLt, and the table of compute types.
#include "plugin/cuda/cublas_lt.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string>
#include <type_traits>

#include "base/error.h"

namespace mxnet::cuda {
namespace {

CublasLt open() {
  const std::string name = fmt::format("libcublasLt.so.{}", CUBLAS_VER_MAJOR);
  void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Error(ErrorCode::kGeneric, "cublasLt",
                fmt::format("matrix products on a GPU need {}, which cannot be loaded: {}", name,
                            dlerror()));
  }
  CublasLt lt;
  const auto find = [&](auto& function, const char* symbol) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, symbol));
    if (function == nullptr)
      throw Error(ErrorCode::kGeneric, "cublasLt", fmt::format("{} lacks {}", name, symbol));
  };
  find(lt.create, "cublasLtCreate");
  find(lt.desc_create, "cublasLtMatmulDescCreate");
  find(lt.desc_destroy, "cublasLtMatmulDescDestroy");
  find(lt.desc_set, "cublasLtMatmulDescSetAttribute");
  find(lt.layout_create, "cublasLtMatrixLayoutCreate");
  find(lt.layout_destroy, "cublasLtMatrixLayoutDestroy");
  find(lt.layout_set, "cublasLtMatrixLayoutSetAttribute");
  find(lt.preference_create, "cublasLtMatmulPreferenceCreate");
  find(lt.preference_destroy, "cublasLtMatmulPreferenceDestroy");
  find(lt.preference_set, "cublasLtMatmulPreferenceSetAttribute");
  find(lt.heuristic, "cublasLtMatmulAlgoGetHeuristic");
  find(lt.matmul, "cublasLtMatmul");
  return lt;
}

}  // namespace

const CublasLt& CublasLt::get() {
  static const CublasLt lt = open();  // a failure is tried again, and told again
  return lt;
}

GemmTypes gemm_types(DType dtype, const CudaConfig& config) {
  const bool tensor_core = config.allow_tensor_core;
  switch (dtype) {
    case DType::kFloat64:
      return {CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F};
    case DType::kFloat32:
      return {CUDA_R_32F, CUDA_R_32F,
              !tensor_core                             ? CUBLAS_COMPUTE_32F_PEDANTIC
              : config.tensor_op_math_allow_conversion ? CUBLAS_COMPUTE_32F_FAST_16F
                                                       : CUBLAS_COMPUTE_32F};
    case DType::kFloat16:
      if (config.fc_true_fp16) return {CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F};
      return {CUDA_R_16F, CUDA_R_32F,
              tensor_core ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_32F_PEDANTIC};
    case DType::kBFloat16:
      return {CUDA_R_16BF, CUDA_R_32F,
              tensor_core ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_32F_PEDANTIC};
    default:
      throw Error(ErrorCode::kType, "gemm",
                  fmt::format("given {}, expected a floating type on a GPU", dtype_name(dtype)));
  }
}

}  // namespace mxnet::cuda
