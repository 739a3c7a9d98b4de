// SPDX-License-Identifier: Apache-2.0
// In place of collectives.cc where NCCL's header was not there at build time.
#include "base/error.h"
#include "plugin/cuda/cuda_device_api.h"

namespace mxnet::cuda {
namespace {

[[noreturn]] void refuse() {
  throw Error(ErrorCode::kNotImplemented, "kvstore",
              "given store type 'nccl', but libmxnet_cuda.so was built without NCCL; use 'device', "
              "which sums over the same links");
}

}  // namespace

void CudaDeviceApi::require_collectives() { refuse(); }
NativeTeam* CudaDeviceApi::create_team(std::span<const int>) { refuse(); }
void CudaDeviceApi::destroy_team(NativeTeam*) noexcept {}
void CudaDeviceApi::run(NativeTeam*, const CollectiveCall&, std::span<NativeStream* const>) {
  refuse();
}

}  // namespace mxnet::cuda
