// SPDX-License-Identifier: Apache-2.0
// The functions of NCCL, found in its library when first needed.
#pragma once
#include <nccl.h>

namespace mxnet::cuda {

// Immutable once loaded.
class Nccl {
 public:
  // Throws Error(kNotImplemented) where there is no library, at every call.
  static const Nccl& get();
  // Throws Error(kGeneric) naming the call and NCCL's reason.
  void check(ncclResult_t result, const char* call) const;

  decltype(&ncclGetErrorString) error_string;
  decltype(&ncclGetLastError) last_error;
  decltype(&ncclCommInitAll) init_all;
  decltype(&ncclCommDestroy) destroy;
  decltype(&ncclGroupStart) group_start;
  decltype(&ncclGroupEnd) group_end;
  decltype(&ncclAllReduce) all_reduce;
  decltype(&ncclReduce) reduce;
  decltype(&ncclBroadcast) broadcast;

 private:
  Nccl();
};

}  // namespace mxnet::cuda
