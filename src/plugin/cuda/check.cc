// SPDX-License-Identifier: Apache-2.0
// The text of CUDA's errors, apart from the inlined check that almost always succeeds.
#include "plugin/cuda/check.h"

#include <fmt/format.h>

#include <string_view>

#include "base/error.h"
#include "plugin/cuda/device_guard.h"

namespace mxnet::cuda {

void throw_error(cudaError_t error, const char* call, int device) {
  if (device == kCurrentDevice) device = guarded_device();
  if (device == kCurrentDevice) cudaGetDevice(&device);
  cudaGetLastError();  // else the next, innocent call would report it again
  const std::string_view text = call;
  const std::string_view function = text.substr(0, text.find('('));
  // What a child of a process that used CUDA gets from every call.
  const char* hint = error == cudaErrorInitializationError
                         ? "; a forked child cannot use CUDA: start worker processes with spawn"
                         : "";
  throw Error(ErrorCode::kGeneric, "cuda",
              fmt::format("gpu({}): {}: {} ({}){}", device, function, cudaGetErrorString(error),
                          cudaGetErrorName(error), hint));
}

}  // namespace mxnet::cuda
