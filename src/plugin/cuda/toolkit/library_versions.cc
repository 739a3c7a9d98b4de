// SPDX-License-Identifier: Apache-2.0
// Comparing versions.
#include "plugin/cuda/toolkit/library_versions.h"

#include <fmt/format.h>

#include "base/config.h"
#include "base/log.h"

namespace mxnet::cuda {
namespace {

void warn(const std::string& warning, const char* row) {
  if (!warning.empty())
    log(LogLevel::kWarning, fmt::format("cuda: {} ({}=0 hides this)", warning, row));
}

}  // namespace

std::string version_warning(const char* library, LibraryVersion built, LibraryVersion found) {
  const bool newer = found.major > built.major;
  const bool older =
      found.major < built.major || (found.major == built.major && found.minor < built.minor);
  if (!newer && !older) return "";
  return fmt::format("built with {0} {1}.{2}, found {3}.{4}: {5}", library, built.major,
                     built.minor, found.major, found.minor,
                     newer ? "its interface may have changed" : "it may lack what is used");
}

void check_cuda_version(const CudaConfig& config, LibraryVersion built, LibraryVersion driver) {
  // Drivers serve programs of every older version.
  if (!config.lib_checking || driver.major > built.major) return;
  warn(version_warning("CUDA", built, driver), "MXNET_CUDA_LIB_CHECKING");
}

void check_cudnn_version(const CudaConfig& config, LibraryVersion built, LibraryVersion found) {
  if (config.cudnn_lib_checking)
    warn(version_warning("cuDNN", built, found), "MXNET_CUDNN_LIB_CHECKING");
}

}  // namespace mxnet::cuda
