// SPDX-License-Identifier: Apache-2.0
// cuBLASLt is column-major: the row-major product c = a b is its product c' = b' a'.
#include "plugin/cuda/blas/cublaslt.h"

#include <cuda.h>
#include <fmt/format.h>

#include "base/error.h"
#include "plugin/cuda/toolkit/library.h"

namespace mxnet::cuda {

const CublasLt& CublasLt::get() {
  static const CublasLt* const loaded = new CublasLt();  // never closed, see Library
  return *loaded;
}

CublasLt::CublasLt() {
  const Library library("matrix products on GPUs",
                        {fmt::format("libcublasLt.so.{}", CUDA_VERSION / 1000), "libcublasLt.so"});
  library.find("cublasLtGetStatusString", &status_string);
  library.find("cublasLtCreate", &create);
  library.find("cublasLtDestroy", &destroy);
  library.find("cublasLtMatmul", &matmul);
  library.find("cublasLtMatmulDescCreate", &create_operation);
  library.find("cublasLtMatmulDescDestroy", &destroy_operation);
  library.find("cublasLtMatmulDescSetAttribute", &set_operation);
  library.find("cublasLtMatrixLayoutCreate", &create_layout);
  library.find("cublasLtMatrixLayoutDestroy", &destroy_layout);
  library.find("cublasLtMatrixLayoutSetAttribute", &set_layout);
  library.find("cublasLtMatmulPreferenceCreate", &create_preference);
  library.find("cublasLtMatmulPreferenceDestroy", &destroy_preference);
  library.find("cublasLtMatmulPreferenceSetAttribute", &set_preference);
  library.find("cublasLtMatmulAlgoGetHeuristic", &heuristic);
}

void CublasLt::check(cublasStatus_t status, const char* call) const {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const bool lacks = status == CUBLAS_STATUS_NOT_SUPPORTED ||
                     status == CUBLAS_STATUS_ARCH_MISMATCH || status == CUBLAS_STATUS_INVALID_VALUE;
  throw Error(lacks ? ErrorCode::kNotImplemented : ErrorCode::kGeneric, "cublas",
              fmt::format("{}: {}", call, status_string(status)));
}

GemmPlan::Owner<cublasLtMatrixLayout_t> GemmPlan::layout(cudaDataType_t elements, int64_t rows,
                                                         int64_t columns, int64_t leading,
                                                         int64_t batch, int64_t stride) {
  const CublasLt& blas = CublasLt::get();
  cublasLtMatrixLayout_t raw = nullptr;
  blas.check(blas.create_layout(&raw, elements, static_cast<uint64_t>(rows),
                                static_cast<uint64_t>(columns), leading),
             "cublasLtMatrixLayoutCreate");
  Owner<cublasLtMatrixLayout_t> owner(raw);
  if (batch > 1) {
    const auto count = static_cast<int32_t>(batch);
    blas.check(blas.set_layout(raw, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof(count)),
               "cublasLtMatrixLayoutSetAttribute");
    blas.check(
        blas.set_layout(raw, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof(stride)),
        "cublasLtMatrixLayoutSetAttribute");
  }
  return owner;
}

GemmPlan::GemmPlan(cublasLtHandle_t handle, const GemmShape& shape, const GemmChoice& choice,
                   std::size_t workspace, const void* vector)
    : choice_(choice) {
  const CublasLt& blas = CublasLt::get();
  cublasLtMatmulDesc_t operation = nullptr;
  blas.check(blas.create_operation(&operation, choice.compute, choice.scale),
             "cublasLtMatmulDescCreate");
  operation_.reset(operation);
  const auto set = [&](cublasLtMatmulDescAttributes_t name, const auto& value) {
    blas.check(blas.set_operation(operation, name, &value, sizeof(value)),
               "cublasLtMatmulDescSetAttribute");
  };
  const auto transposed = [](bool yes) { return yes ? CUBLAS_OP_T : CUBLAS_OP_N; };
  set(CUBLASLT_MATMUL_DESC_TRANSA, transposed(shape.transpose_b));
  set(CUBLASLT_MATMUL_DESC_TRANSB, transposed(shape.transpose_a));
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, choice.epilogue);
  // Column-major views of the row-major arrays: rows and columns change places.
  const auto view = [&](cudaDataType_t elements, bool transpose, int64_t rows, int64_t columns,
                        int64_t leading, int64_t stride) {
    return layout(elements, transpose ? rows : columns, transpose ? columns : rows, leading,
                  shape.batch, stride);
  };
  a_ = view(choice.elements, shape.transpose_a, shape.m, shape.k, shape.lda, shape.stride_a);
  b_ = view(choice.elements, shape.transpose_b, shape.k, shape.n, shape.ldb, shape.stride_b);
  c_ = view(choice.results(), false, shape.m, shape.n, shape.ldc, shape.stride_c);
  if (vector != nullptr) set_vector(vector);
  pick(handle, shape.alignment, workspace);
}

void GemmPlan::set_vector(const void* vector) {
  const CublasLt& blas = CublasLt::get();
  blas.check(blas.set_operation(operation_.get(), CUBLASLT_MATMUL_DESC_BIAS_POINTER, &vector,
                                sizeof(vector)),
             "cublasLtMatmulDescSetAttribute");
}

void GemmPlan::pick(cublasLtHandle_t handle, uint32_t alignment, std::size_t workspace) {
  const CublasLt& blas = CublasLt::get();
  cublasLtMatmulPreference_t preference = nullptr;
  blas.check(blas.create_preference(&preference), "cublasLtMatmulPreferenceCreate");
  const auto destroy = [&](auto* raw) { blas.destroy_preference(raw); };
  const std::unique_ptr<std::remove_pointer_t<cublasLtMatmulPreference_t>, decltype(destroy)> owner(
      preference, destroy);
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t name, const auto& value) {
    blas.check(blas.set_preference(preference, name, &value, sizeof(value)),
               "cublasLtMatmulPreferenceSetAttribute");
  };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<uint64_t>(workspace));
  for (const auto name :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
    set(name, alignment);
  cublasLtMatmulHeuristicResult_t found{};
  int count = 0;
  blas.check(blas.heuristic(handle, operation_.get(), b_.get(), a_.get(), c_.get(), c_.get(),
                            preference, 1, &found, &count),
             "cublasLtMatmulAlgoGetHeuristic");
  if (count == 0) {
    throw Error(ErrorCode::kNotImplemented, "dot",
                "given a matrix product for which cuBLASLt has no algorithm on this GPU");
  }
  algorithm_ = found.algo;
  workspace_ = found.workspaceSize;
}

void GemmPlan::run(cublasLtHandle_t handle, double alpha, const void* a, const void* b, double beta,
                   void* c, const void* vector, void* workspace, cudaStream_t stream) {
  const CublasLt& blas = CublasLt::get();
  if (vector != nullptr) set_vector(vector);
  const auto launch = [&](const auto& scale_a, const auto& scale_b) {
    blas.check(blas.matmul(handle, operation_.get(), &scale_a, b, b_.get(), a, a_.get(), &scale_b,
                           c, c_.get(), c, c_.get(), &algorithm_, workspace, workspace_, stream),
               "cublasLtMatmul");
  };
  if (choice_.scale == CUDA_R_64F) return launch(alpha, beta);
  if (choice_.scale == CUDA_R_32I)
    return launch(static_cast<int32_t>(alpha), static_cast<int32_t>(beta));
  if (choice_.scale == CUDA_R_16F)
    return launch(float16(static_cast<float>(alpha)), float16(static_cast<float>(beta)));
  launch(static_cast<float>(alpha), static_cast<float>(beta));
}

}  // namespace mxnet::cuda
