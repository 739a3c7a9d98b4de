// SPDX-License-Identifier: Apache-2.0
// By its name the driver, as far as cuDNN needs one to make plans for a GPU that is not there: it
// compiles kernels on its own, and has a driver take them. Here they are taken unread, and nothing
// runs. Everything else is refused.
#include <cuda.h>

namespace {

int thing;  // what every handle points to
template <class Handle>
CUresult give(Handle* handle) {
  *handle = reinterpret_cast<Handle>(&thing);
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuDriverGetVersion(int* version) {
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}
CUresult cuLibraryLoadData(CUlibrary* library, const void*, CUjit_option*, void**, unsigned,
                           CUlibraryOption*, void**, unsigned) {
  return give(library);
}
CUresult cuLibraryUnload(CUlibrary) { return CUDA_SUCCESS; }
CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary, const char*) { return give(kernel); }
CUresult cuLibraryGetModule(CUmodule* module, CUlibrary) { return give(module); }
CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary) {
  *count = 1;
  return CUDA_SUCCESS;
}
CUresult cuKernelGetFunction(CUfunction* function, CUkernel) { return give(function); }
CUresult cuKernelSetAttribute(CUfunction_attribute, int, CUkernel, CUdevice) {
  return CUDA_SUCCESS;
}
CUresult cuKernelGetAttribute(int* value, CUfunction_attribute, CUkernel, CUdevice) {
  *value = 0;
  return CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) { return CUDA_SUCCESS; }
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute, CUfunction) {
  *value = 0;
  return CUDA_SUCCESS;
}
CUresult cuModuleLoadData(CUmodule* module, const void*) { return give(module); }
CUresult cuModuleUnload(CUmodule) { return CUDA_SUCCESS; }
CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char*) { return give(function); }
}
