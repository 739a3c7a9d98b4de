// SPDX-License-Identifier: Apache-2.0
// In which types a matrix product is computed, and what cuBLASLt adds to it on the way out, as a
// pure function of the documented variables.
#pragma once
#include <cublasLt.h>

#include <compare>

#include "base/config.h"
#include "base/dtype.h"

namespace mxnet::cuda {

enum class GemmActivation : uint8_t { kNone, kRelu, kGelu };

struct GemmRequest {
  DType dtype = DType::kFloat32;  // of both factors and of the result
  bool bias = false;
  GemmActivation activation = GemmActivation::kNone;
  bool fully_connected = false;  // MXNET_FC_TRUE_FP16 is about these

  auto operator<=>(const GemmRequest&) const = default;
};

struct GemmChoice {
  cudaDataType_t elements;
  cudaDataType_t scale;  // of alpha and beta
  cublasComputeType_t compute;
  cublasLtEpilogue_t epilogue;

  bool operator==(const GemmChoice&) const = default;
};

// Throws Error(kType) for types without products.
GemmChoice gemm_choice(const CudaConfig& config, const GemmRequest& request);

}  // namespace mxnet::cuda
