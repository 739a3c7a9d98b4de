// SPDX-License-Identifier: Apache-2.0
// Opens libcusolver.
#include "plugin/cuda/solver/cusolver.h"

#include <fmt/format.h>

#include "base/error.h"
#include "plugin/cuda/toolkit/library.h"

namespace mxnet::cuda {

const Cusolver& Cusolver::get() {
  static const Cusolver* const loaded = new Cusolver();  // never closed, see Library
  return *loaded;
}

Cusolver::Cusolver() {
  const Library library("linear algebra on GPUs",
                        {fmt::format("libcusolver.so.{}", CUSOLVER_VER_MAJOR), "libcusolver.so"});
  library.find("cusolverDnCreate", &create);
  library.find("cusolverDnSetStream", &set_stream);
  library.find("cusolverDnCreateParams", &create_params);
  library.find("cusolverDnDestroyParams", &destroy_params);
  library.find("cusolverDnXpotrf_bufferSize", &potrf_size);
  library.find("cusolverDnXpotrf", &potrf);
  library.find("cusolverDnSpotrfBatched", &spotrf_all);
  library.find("cusolverDnDpotrfBatched", &dpotrf_all);
  library.find("cusolverDnXgetrf_bufferSize", &getrf_size);
  library.find("cusolverDnXgetrf", &getrf);
  library.find("cusolverDnXsyevd_bufferSize", &syevd_size);
  library.find("cusolverDnXsyevd", &syevd);
  library.find("cusolverDnXsyevBatched_bufferSize", &syev_all_size);
  library.find("cusolverDnXsyevBatched", &syev_all);
  library.find("cusolverDnXgeev_bufferSize", &geev_size);
  library.find("cusolverDnXgeev", &geev);
  library.find("cusolverDnXgesvd_bufferSize", &gesvd_size);
  library.find("cusolverDnXgesvd", &gesvd);
  library.find("cusolverDnCreateGesvdjInfo", &create_gesvdj);
  library.find("cusolverDnDestroyGesvdjInfo", &destroy_gesvdj);
  library.find("cusolverDnSgesvdjBatched_bufferSize", &sgesvdj_all_size);
  library.find("cusolverDnSgesvdjBatched", &sgesvdj_all);
  library.find("cusolverDnDgesvdjBatched_bufferSize", &dgesvdj_all_size);
  library.find("cusolverDnDgesvdjBatched", &dgesvdj_all);
  library.find("cusolverDnXgeqrf_bufferSize", &geqrf_size);
  library.find("cusolverDnXgeqrf", &geqrf);
  library.find("cusolverDnSorgqr_bufferSize", &sorgqr_size);
  library.find("cusolverDnSorgqr", &sorgqr);
  library.find("cusolverDnDorgqr_bufferSize", &dorgqr_size);
  library.find("cusolverDnDorgqr", &dorgqr);
}

void Cusolver::check(cusolverStatus_t status, const char* call) const {
  if (status == CUSOLVER_STATUS_SUCCESS) return;
  throw Error(ErrorCode::kGeneric, "cusolver",
              fmt::format("{}: status {}", call, static_cast<int>(status)));
}

}  // namespace mxnet::cuda
