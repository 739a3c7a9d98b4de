// SPDX-License-Identifier: Apache-2.0
// Opens libnvrtc: the version that the plug-in was built with, then what may stand in for it.
#include "plugin/cuda/rtc/nvrtc.h"

#include <cuda.h>
#include <fmt/format.h>

#include "base/error.h"
#include "plugin/cuda/toolkit/library.h"

namespace mxnet::cuda {

const Nvrtc& Nvrtc::get() {
  static const Nvrtc* const loaded = new Nvrtc();  // never closed, see Library
  return *loaded;
}

Nvrtc::Nvrtc() {
  const Library library("compilation of GPU kernels at run time",
                        {fmt::format("libnvrtc.so.{}", CUDA_VERSION / 1000), "libnvrtc.so"});
  library.find("nvrtcVersion", &version_of);
  library.find("nvrtcGetErrorString", &error_string);
  library.find("nvrtcGetNumSupportedArchs", &num_archs);
  library.find("nvrtcGetSupportedArchs", &archs);
  library.find("nvrtcCreateProgram", &create_program);
  library.find("nvrtcDestroyProgram", &destroy_program);
  library.find("nvrtcCompileProgram", &compile_program);
  library.find("nvrtcAddNameExpression", &add_name_expression);
  library.find("nvrtcGetLoweredName", &lowered_name);
  library.find("nvrtcGetProgramLogSize", &log_size);
  library.find("nvrtcGetProgramLog", &log);
  library.find("nvrtcGetPTXSize", &ptx_size);
  library.find("nvrtcGetPTX", &ptx);
  library.find("nvrtcGetCUBINSize", &cubin_size);
  library.find("nvrtcGetCUBIN", &cubin);
  int major = 0, minor = 0, count = 0;
  check(version_of(&major, &minor), "nvrtcVersion");
  version_ = major * 1000 + minor * 10;
  check(num_archs(&count), "nvrtcGetNumSupportedArchs");
  architectures_.resize(static_cast<std::size_t>(count));
  check(archs(architectures_.data()), "nvrtcGetSupportedArchs");
}

void Nvrtc::check(nvrtcResult result, const char* call) const {
  if (result == NVRTC_SUCCESS) return;
  throw Error(ErrorCode::kGeneric, "cuda", fmt::format("{}: {}", call, error_string(result)));
}

}  // namespace mxnet::cuda
