// SPDX-License-Identifier: Apache-2.0
// Touches the current device only when it differs: the common case costs one look-up in the
// runtime.
#include "plugin/cuda/device_guard.h"

#include <cuda_runtime_api.h>

#include "plugin/cuda/check.h"

namespace mxnet::cuda {

DeviceGuard::DeviceGuard(int device) {
  int before = 0;
  MX_CUDA_CALL(cudaGetDevice(&before));
  if (before == device) return;
  MX_CUDA_CALL(cudaSetDevice(device));
  before_ = before;
}

DeviceGuard::~DeviceGuard() {
  if (before_ >= 0) cudaSetDevice(before_);
}

}  // namespace mxnet::cuda
