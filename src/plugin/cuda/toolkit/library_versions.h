// SPDX-License-Identifier: Apache-2.0
// Whether the libraries that were found are those that the plug-in was built with.
#pragma once
#include <string>

#include "base/config_sections.h"

namespace mxnet::cuda {

// What is wrong with a library; empty if nothing is. Another major version has another ABI, an
// older minor one may lack what the build relies on. Versions as "13.0" and "9.12".
struct LibraryVersion {
  int major = 0, minor = 0;
};
std::string version_warning(const char* library, LibraryVersion built, LibraryVersion found);

// Log the warning, each once a process. (MXNET_CUDA_LIB_CHECKING, MXNET_CUDNN_LIB_CHECKING)
// `driver` is the newest CUDA version that the driver serves.
void check_cuda_version(const CudaConfig& config, LibraryVersion built, LibraryVersion driver);
void check_cudnn_version(const CudaConfig& config, LibraryVersion built, LibraryVersion found);

}  // namespace mxnet::cuda
