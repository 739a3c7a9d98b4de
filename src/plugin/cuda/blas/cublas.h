// SPDX-License-Identifier: Apache-2.0
// The functions of cuBLAS that cuBLASLt does not have, found in its library when first needed.
#pragma once
#include <cublas_v2.h>

#include "plugin/cuda/toolkit/lent_handle.h"

namespace mxnet::cuda {

// Immutable once loaded.
class Cublas {
 public:
  // Throws Error(kNotImplemented) where there is no library, at every call.
  static const Cublas& get();
  // Throws Error(kGeneric) naming the call and cuBLAS's reason.
  void check(cublasStatus_t status, const char* call) const;

  static constexpr const char *kCreate = "cublasCreate", *kSetStream = "cublasSetStream";
  decltype(&cublasGetStatusString) status_string;
  decltype(&cublasCreate_v2) create;
  decltype(&cublasSetStream_v2) set_stream;
  decltype(&cublasSgetrfBatched) sgetrf_all;
  decltype(&cublasDgetrfBatched) dgetrf_all;
  decltype(&cublasStrsm_v2) strsm;
  decltype(&cublasDtrsm_v2) dtrsm;

 private:
  Cublas();
};

using CublasHandles = Handles<cublasHandle_t, Cublas>;

}  // namespace mxnet::cuda
