// SPDX-License-Identifier: Apache-2.0
// How products are computed under each variable that has a say in it.
#include <gtest/gtest.h>

#include "base/error.h"
#include "plugin/cuda/cublas_lt.h"

namespace mxnet::cuda {
namespace {

TEST(GemmTypes, HalfTypesAccumulateInFloat) {
  const CudaConfig config;
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    EXPECT_EQ(gemm_types(dtype, config).compute, CUBLAS_COMPUTE_32F);
    EXPECT_EQ(gemm_types(dtype, config).scale, CUDA_R_32F);
  }
  EXPECT_EQ(gemm_types(DType::kFloat64, config).compute, CUBLAS_COMPUTE_64F);
}

TEST(GemmTypes, TrueHalfPrecisionIsForFloat16Alone) {
  CudaConfig config;
  config.fc_true_fp16 = true;
  EXPECT_EQ(gemm_types(DType::kFloat16, config).compute, CUBLAS_COMPUTE_16F);
  EXPECT_EQ(gemm_types(DType::kFloat16, config).scale, CUDA_R_16F);
  EXPECT_EQ(gemm_types(DType::kBFloat16, config).compute, CUBLAS_COMPUTE_32F);
}

TEST(GemmTypes, ConversionIsUsedOnlyWhereTensorCoresAreAllowed) {
  CudaConfig config;
  EXPECT_EQ(gemm_types(DType::kFloat32, config).compute, CUBLAS_COMPUTE_32F);
  config.tensor_op_math_allow_conversion = true;
  EXPECT_EQ(gemm_types(DType::kFloat32, config).compute, CUBLAS_COMPUTE_32F_FAST_16F);
  config.allow_tensor_core = false;
  EXPECT_EQ(gemm_types(DType::kFloat32, config).compute, CUBLAS_COMPUTE_32F_PEDANTIC);
  EXPECT_EQ(gemm_types(DType::kFloat16, config).compute, CUBLAS_COMPUTE_32F_PEDANTIC);
}

TEST(GemmTypes, IntegersAreRefusedByName) {
  try {
    gemm_types(DType::kInt64, CudaConfig{});
    FAIL() << "expected an error";
  } catch (const Error& e) {
    EXPECT_NE(e.message().find("int64"), std::string::npos);
  }
}

}  // namespace
}  // namespace mxnet::cuda
