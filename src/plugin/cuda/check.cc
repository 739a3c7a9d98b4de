// SPDX-License-Identifier: Apache-2.0
#include "plugin/cuda/check.h"

#include <fmt/format.h>

#include <string_view>

#include "base/error.h"

namespace mxnet::cuda {

void throw_error(cudaError_t error, const char* call) {
  int device = -1;
  cudaGetDevice(&device);
  cudaGetLastError();  // else the next, innocent call would report it again
  const std::string_view text = call;
  const std::string_view function = text.substr(0, text.find('('));
  throw Error(ErrorCode::kGeneric, "cuda",
              fmt::format("gpu({}): {}: {} ({})", device, function, cudaGetErrorString(error),
                          cudaGetErrorName(error)));
}

}  // namespace mxnet::cuda
