// SPDX-License-Identifier: Apache-2.0
// The half of a launch that is not nvcc's: the device, the grid and the errors.
#include "plugin/cuda/launch.h"

#include <algorithm>

#include "base/error.h"
#include "plugin/cuda/check.h"
#include "plugin/cuda/handles.h"

namespace mxnet::cuda {
namespace {

CudaStream& checked(NativeStream* stream) {
  if (stream == nullptr) throw Error(ErrorCode::kValue, "cuda", "given no stream");
  return *CudaStream::from(stream);
}

}  // namespace

LaunchScope::LaunchScope(NativeStream* stream)
    : guard_(checked(stream).device()),
      stream_(CudaStream::from(stream)->handle()),
      resident_threads_(CudaStream::from(stream)->resident_threads()) {}

unsigned LaunchScope::blocks(int64_t items, int threads_per_block) const {
  const int64_t needed = (items + threads_per_block - 1) / threads_per_block;
  const int64_t resident = resident_threads_ / threads_per_block;
  return static_cast<unsigned>(std::clamp<int64_t>(needed, 1, std::max<int64_t>(resident, 1)));
}

void LaunchScope::check(const char* kernel) const { cuda::check(cudaGetLastError(), kernel); }

}  // namespace mxnet::cuda
