// SPDX-License-Identifier: Apache-2.0
// The functions of cuSOLVER, found in its library when first needed.
#pragma once
#include <cusolverDn.h>

#include "plugin/cuda/toolkit/lent_handle.h"

namespace mxnet::cuda {

// Immutable once loaded.
class Cusolver {
 public:
  // Throws Error(kNotImplemented) where there is no library, at every call.
  static const Cusolver& get();
  // Throws Error(kGeneric) naming the call and cuSOLVER's status.
  void check(cusolverStatus_t status, const char* call) const;

  static constexpr const char *kCreate = "cusolverDnCreate", *kSetStream = "cusolverDnSetStream";
  decltype(&cusolverDnCreate) create;
  decltype(&cusolverDnSetStream) set_stream;
  decltype(&cusolverDnCreateParams) create_params;
  decltype(&cusolverDnDestroyParams) destroy_params;
  decltype(&cusolverDnXpotrf_bufferSize) potrf_size;
  decltype(&cusolverDnXpotrf) potrf;
  decltype(&cusolverDnSpotrfBatched) spotrf_all;
  decltype(&cusolverDnDpotrfBatched) dpotrf_all;
  decltype(&cusolverDnXgetrf_bufferSize) getrf_size;
  decltype(&cusolverDnXgetrf) getrf;
  decltype(&cusolverDnXsyevd_bufferSize) syevd_size;
  decltype(&cusolverDnXsyevd) syevd;
  decltype(&cusolverDnXsyevBatched_bufferSize) syev_all_size;
  decltype(&cusolverDnXsyevBatched) syev_all;
  decltype(&cusolverDnXgeev_bufferSize) geev_size;
  decltype(&cusolverDnXgeev) geev;
  decltype(&cusolverDnXgesvd_bufferSize) gesvd_size;
  decltype(&cusolverDnXgesvd) gesvd;
  decltype(&cusolverDnCreateGesvdjInfo) create_gesvdj;
  decltype(&cusolverDnDestroyGesvdjInfo) destroy_gesvdj;
  decltype(&cusolverDnSgesvdjBatched_bufferSize) sgesvdj_all_size;
  decltype(&cusolverDnSgesvdjBatched) sgesvdj_all;
  decltype(&cusolverDnDgesvdjBatched_bufferSize) dgesvdj_all_size;
  decltype(&cusolverDnDgesvdjBatched) dgesvdj_all;
  decltype(&cusolverDnXgeqrf_bufferSize) geqrf_size;
  decltype(&cusolverDnXgeqrf) geqrf;
  decltype(&cusolverDnSorgqr_bufferSize) sorgqr_size;
  decltype(&cusolverDnSorgqr) sorgqr;
  decltype(&cusolverDnDorgqr_bufferSize) dorgqr_size;
  decltype(&cusolverDnDorgqr) dorgqr;

 private:
  Cusolver();
};

using CusolverHandles = Handles<cusolverDnHandle_t, Cusolver>;

}  // namespace mxnet::cuda
