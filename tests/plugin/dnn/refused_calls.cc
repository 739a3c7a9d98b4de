// SPDX-License-Identifier: Apache-2.0
// What cuDNN looks for when it opens a driver and does not call to make plans. Apart from the
// driver's header, which declares these with arguments that nobody looks at here.
extern "C" {

// CUDA_ERROR_NOT_SUPPORTED
#define MX_REFUSED(name) \
  int name() { return 801; }
MX_REFUSED(cuInit)
MX_REFUSED(cuGetErrorName)
MX_REFUSED(cuGetErrorString)
MX_REFUSED(cuCtxGetCurrent)
MX_REFUSED(cuCtxGetLimit)
MX_REFUSED(cuCtxPopCurrent)
MX_REFUSED(cuCtxPushCurrent)
MX_REFUSED(cuStreamGetCtx)
MX_REFUSED(cuLinkCreate)
MX_REFUSED(cuLinkAddData)
MX_REFUSED(cuLinkComplete)
MX_REFUSED(cuLinkDestroy)
MX_REFUSED(cuLaunchKernel)
MX_REFUSED(cuLaunchKernelEx)
MX_REFUSED(cuLaunchCooperativeKernel)
MX_REFUSED(cuDeviceGet)
MX_REFUSED(cuDeviceGetCount)
MX_REFUSED(cuLibraryLoadFromFile)
MX_REFUSED(cuOccupancyMaxPotentialClusterSize)
#undef MX_REFUSED
}
