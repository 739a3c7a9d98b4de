// SPDX-License-Identifier: Apache-2.0
// Opens libnccl.
#include "plugin/cuda/nccl/nccl.h"

#include <fmt/format.h>

#include "base/error.h"
#include "plugin/cuda/toolkit/library.h"

namespace mxnet::cuda {

const Nccl& Nccl::get() {
  static const Nccl* const loaded = new Nccl();  // never closed, see Library
  return *loaded;
}

Nccl::Nccl() {
  const Library library("a kvstore of type 'nccl'",
                        {fmt::format("libnccl.so.{}", NCCL_MAJOR), "libnccl.so"});
  library.find("ncclGetErrorString", &error_string);
  library.find("ncclGetLastError", &last_error);
  library.find("ncclCommInitAll", &init_all);
  library.find("ncclCommDestroy", &destroy);
  library.find("ncclGroupStart", &group_start);
  library.find("ncclGroupEnd", &group_end);
  library.find("ncclAllReduce", &all_reduce);
  library.find("ncclReduce", &reduce);
  library.find("ncclBroadcast", &broadcast);
}

void Nccl::check(ncclResult_t result, const char* call) const {
  if (result == ncclSuccess) return;
  throw Error(ErrorCode::kGeneric, "nccl",
              fmt::format("{}: {}: {}", call, error_string(result), last_error(nullptr)));
}

}  // namespace mxnet::cuda
