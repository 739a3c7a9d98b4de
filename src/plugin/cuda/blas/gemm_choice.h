// SPDX-License-Identifier: Apache-2.0
// In which types a matrix product is computed, and what cuBLASLt adds to it on the way out, as a
// pure function of the documented variables.
#pragma once
#include <cublasLt.h>

#include <compare>
#include <optional>

#include "base/config_sections.h"
#include "base/dtype.h"

namespace mxnet::cuda {

struct GemmRequest {
  DType dtype = DType::kFloat32;  // of both factors and of the result
  // What is done on the way out: a bias is added, negative results become 0; or, in the gradient of
  // a weight, the left factor is summed for that of the bias.
  bool bias = false, relu = false, sums_a = false;
  bool fully_connected = false;  // MXNET_FC_TRUE_FP16 is about these
};

struct GemmChoice {
  cudaDataType_t elements;
  cudaDataType_t scale;  // of alpha and beta
  cublasComputeType_t compute;
  cublasLtEpilogue_t epilogue;

  bool bare() const { return epilogue == CUBLASLT_EPILOGUE_DEFAULT; }
  cudaDataType_t results() const { return elements == CUDA_R_8I ? CUDA_R_32I : elements; }
  auto operator<=>(const GemmChoice&) const = default;
};

// Without an epilogue where cuBLASLt has none of these for the type, or a worse one: then kernels
// of ours do it. Throws Error(kType) for types without products.
GemmChoice gemm_choice(const CudaConfig& config, const GemmRequest& request);

// Products of int8 as exact sums in int32. cuBLASLt has them on tensor cores alone.
inline constexpr GemmChoice kBytesChoice{CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I,
                                         CUBLASLT_EPILOGUE_DEFAULT};

// What is tried where cuBLASLt has no product of half types without tensor cores; their sums are
// float as well. Nothing for other types, and where tensor cores are permitted anyway.
std::optional<GemmChoice> with_tensor_cores(const GemmChoice& choice);

}  // namespace mxnet::cuda
