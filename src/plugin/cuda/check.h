// SPDX-License-Identifier: Apache-2.0
// Turns CUDA's error codes into Error. Every call of the runtime that can fail goes through
// MX_CUDA_CALL. C++17: .cu files include it.
#pragma once
#include <cuda_runtime_api.h>

namespace mxnet::cuda {

constexpr int kCurrentDevice = -1;

// Throws Error(kGeneric) that names the device, the call and CUDA's reason, and clears that error.
[[noreturn]] void throw_error(cudaError_t error, const char* call, int device = kCurrentDevice);

inline void check(cudaError_t error, const char* call, int device = kCurrentDevice) {
  if (__builtin_expect(error != cudaSuccess, 0)) throw_error(error, call, device);
}

}  // namespace mxnet::cuda

#define MX_CUDA_CALL(call) ::mxnet::cuda::check((call), #call)
// For calls that ask about a device, which need not be current, nor have a context.
#define MX_CUDA_CALL_ABOUT(device, call) ::mxnet::cuda::check((call), #call, (device))
