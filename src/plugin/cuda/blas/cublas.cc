// SPDX-License-Identifier: Apache-2.0
// Opens libcublas.
#include "plugin/cuda/blas/cublas.h"

#include <cuda.h>
#include <fmt/format.h>

#include "base/error.h"
#include "plugin/cuda/toolkit/library.h"

namespace mxnet::cuda {

const Cublas& Cublas::get() {
  static const Cublas* const loaded = new Cublas();  // never closed, see Library
  return *loaded;
}

Cublas::Cublas() {
  const Library library("factors of many matrices and equations of triangles on GPUs",
                        {fmt::format("libcublas.so.{}", CUDA_VERSION / 1000), "libcublas.so"});
  library.find("cublasGetStatusString", &status_string);
  library.find("cublasCreate_v2", &create);
  library.find("cublasSetStream_v2", &set_stream);
  library.find("cublasSgetrfBatched", &sgetrf_all);
  library.find("cublasDgetrfBatched", &dgetrf_all);
  library.find("cublasStrsm_v2", &strsm);
  library.find("cublasDtrsm_v2", &dtrsm);
}

void Cublas::check(cublasStatus_t status, const char* call) const {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(ErrorCode::kGeneric, "cublas", fmt::format("{}: {}", call, status_string(status)));
}

}  // namespace mxnet::cuda
