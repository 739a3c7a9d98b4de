// SPDX-License-Identifier: Apache-2.0
// The functions of NVRTC, found in its library when first needed: programs that compile nothing at
// run time do not need it, and a missing one is an error of ours that says what to install.
#pragma once
#include <nvrtc.h>

#include <vector>

namespace mxnet::cuda {

// Immutable once loaded.
class Nvrtc {
 public:
  // Throws Error(kNotImplemented) where there is no library, at every call.
  static const Nvrtc& get();

  int version() const { return version_; }  // 13000 = 13.0
  // Compute capabilities that it knows, ascending: 80 = 8.0.
  const std::vector<int>& architectures() const { return architectures_; }
  // Throws Error(kGeneric) naming the call and NVRTC's reason.
  void check(nvrtcResult result, const char* call) const;

  decltype(&nvrtcVersion) version_of;
  decltype(&nvrtcGetErrorString) error_string;
  decltype(&nvrtcGetNumSupportedArchs) num_archs;
  decltype(&nvrtcGetSupportedArchs) archs;
  decltype(&nvrtcCreateProgram) create_program;
  decltype(&nvrtcDestroyProgram) destroy_program;
  decltype(&nvrtcCompileProgram) compile_program;
  decltype(&nvrtcAddNameExpression) add_name_expression;
  decltype(&nvrtcGetLoweredName) lowered_name;
  decltype(&nvrtcGetProgramLogSize) log_size;
  decltype(&nvrtcGetProgramLog) log;
  decltype(&nvrtcGetPTXSize) ptx_size;
  decltype(&nvrtcGetPTX) ptx;
  decltype(&nvrtcGetCUBINSize) cubin_size;
  decltype(&nvrtcGetCUBIN) cubin;

 private:
  Nvrtc();

  int version_ = 0;
  std::vector<int> architectures_;
};

}  // namespace mxnet::cuda
