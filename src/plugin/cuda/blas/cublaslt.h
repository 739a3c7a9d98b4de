// SPDX-License-Identifier: Apache-2.0
// Matrix products by cuBLASLt, found in its library when first needed.
#pragma once
#include <cublasLt.h>

#include <compare>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "plugin/cuda/blas/gemm_choice.h"

namespace mxnet::cuda {

// Immutable once loaded.
class CublasLt {
 public:
  // Throws Error(kNotImplemented) where there is no library, at every call.
  static const CublasLt& get();
  // Throws Error naming the call and cuBLAS's reason: kNotImplemented where it will never be
  // otherwise (it has no such product), kGeneric where another try may end well.
  void check(cublasStatus_t status, const char* call) const;

  decltype(&cublasLtGetStatusString) status_string;
  decltype(&cublasLtCreate) create;
  decltype(&cublasLtDestroy) destroy;
  decltype(&cublasLtMatmul) matmul;
  decltype(&cublasLtMatmulDescCreate) create_operation;
  decltype(&cublasLtMatmulDescDestroy) destroy_operation;
  decltype(&cublasLtMatmulDescSetAttribute) set_operation;
  decltype(&cublasLtMatrixLayoutCreate) create_layout;
  decltype(&cublasLtMatrixLayoutDestroy) destroy_layout;
  decltype(&cublasLtMatrixLayoutSetAttribute) set_layout;
  decltype(&cublasLtMatmulPreferenceCreate) create_preference;
  decltype(&cublasLtMatmulPreferenceDestroy) destroy_preference;
  decltype(&cublasLtMatmulPreferenceSetAttribute) set_preference;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic;

 private:
  CublasLt();
};

// Row-major matrices: c[m, n] = alpha * op(a)[m, k] * op(b)[k, n] + beta * c, `batch` times. From
// row to row, as stored, are ld* elements, from matrix to matrix `stride_*`.
struct GemmShape {
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  int64_t lda = 0, ldb = 0, ldc = 0;
  int64_t batch = 1, stride_a = 0, stride_b = 0, stride_c = 0;
  uint32_t alignment = 256;  // of all addresses, in bytes

  auto operator<=>(const GemmShape&) const = default;
};

// A product that is ready to run any number of times. Used by one thread at a time where its
// epilogue has an array, whose address lies in the descriptor.
class GemmPlan {
 public:
  // `workspace` bytes may be used; `vector` is one of those that run() will be given, null where
  // the epilogue has none. Throws Error where cuBLASLt has no way.
  GemmPlan(cublasLtHandle_t handle, const GemmShape& shape, const GemmChoice& choice,
           std::size_t workspace, const void* vector);

  std::size_t workspace_bytes() const { return workspace_; }
  // `vector`: what the epilogue adds to rows, or the sums that it writes.
  void run(cublasLtHandle_t handle, double alpha, const void* a, const void* b, double beta,
           void* c, const void* vector, void* workspace, cudaStream_t stream);

 private:
  struct Destroy {
    void operator()(cublasLtMatmulDesc_t operation) const {
      CublasLt::get().destroy_operation(operation);
    }
    void operator()(cublasLtMatrixLayout_t layout) const { CublasLt::get().destroy_layout(layout); }
  };
  template <class Handle>
  using Owner = std::unique_ptr<std::remove_pointer_t<Handle>, Destroy>;

  static Owner<cublasLtMatrixLayout_t> layout(cudaDataType_t elements, int64_t rows,
                                              int64_t columns, int64_t leading, int64_t batch,
                                              int64_t stride);
  void set_vector(const void* vector);
  void pick(cublasLtHandle_t handle, uint32_t alignment, std::size_t workspace);

  const GemmChoice choice_;
  Owner<cublasLtMatmulDesc_t> operation_;
  Owner<cublasLtMatrixLayout_t> a_, b_, c_;
  cublasLtMatmulAlgo_t algorithm_{};
  std::size_t workspace_ = 0;
};

}  // namespace mxnet::cuda
