// SPDX-License-Identifier: Apache-2.0
// GPU kernels from source, and code that other compilers made: entry points that programs look up
// at start, and that say what is missing when they are called.
#include "c_api/guard.h"
#include "mxnet/c_api.h"

using namespace mxnet;
using c_api::guarded;
using c_api::require;

namespace {

[[noreturn]] void no_compiler(const char* function) {
  throw Error(ErrorCode::kNotImplemented, function,
              "given the source of a GPU kernel, expected none: this version does not compile "
              "kernels at run time");
}

[[noreturn]] void no_handle(const char* function) {
  throw Error(ErrorCode::kValue, function,
              "given a handle of another kind, expected one that MXRtc* has created, which this "
              "version does not do");
}

int fails_without_handle(const void* handle, const char* function) {
  return guarded(
      [&] {
        require(handle, function, "handle");
        no_handle(function);
      },
      function);
}

}  // namespace

int MXRtcCreate(char* name, uint32_t, uint32_t, char**, char**, NDArrayHandle*, NDArrayHandle*,
                char* kernel, RtcHandle* out) {
  return guarded([&] {
    require(name, "MXRtcCreate", "name");
    require(kernel, "MXRtcCreate", "kernel");
    require(out, "MXRtcCreate", "out");
    no_compiler("MXRtcCreate");
  });
}

int MXRtcPush(RtcHandle handle, uint32_t, uint32_t, NDArrayHandle*, NDArrayHandle*, uint32_t,
              uint32_t, uint32_t, uint32_t, uint32_t, uint32_t) {
  return fails_without_handle(handle, "MXRtcPush");
}

int MXRtcFree(RtcHandle handle) { return fails_without_handle(handle, "MXRtcFree"); }

int MXRtcCudaModuleCreate(const char* source, int, const char**, int, const char**,
                          CudaModuleHandle* out) {
  return guarded([&] {
    require(source, "MXRtcCudaModuleCreate", "source");
    require(out, "MXRtcCudaModuleCreate", "out");
    no_compiler("MXRtcCudaModuleCreate");
  });
}

int MXRtcCudaModuleFree(CudaModuleHandle handle) {
  return fails_without_handle(handle, "MXRtcCudaModuleFree");
}

int MXRtcCudaKernelCreate(CudaModuleHandle handle, const char*, int, int*, int*, int*,
                          CudaKernelHandle*) {
  return fails_without_handle(handle, "MXRtcCudaKernelCreate");
}

int MXRtcCudaKernelFree(CudaKernelHandle handle) {
  return fails_without_handle(handle, "MXRtcCudaKernelFree");
}

int MXRtcCudaKernelCall(CudaKernelHandle handle, int, void**, uint32_t, uint32_t, uint32_t,
                        uint32_t, uint32_t, uint32_t, uint32_t) {
  return fails_without_handle(handle, "MXRtcCudaKernelCall");
}

int MXTVMBridge(void* pregister) {
  return guarded([&] {
    require(pregister, "MXTVMBridge", "pregister");
    throw Error(ErrorCode::kNotImplemented, "MXTVMBridge",
                "given TVM's registry, expected none: kernels made by TVM are not supported");
  });
}
