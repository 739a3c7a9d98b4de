// SPDX-License-Identifier: Apache-2.0
// Teams of GPUs on NCCL: a communicator a GPU, all of one process.
#include <fmt/format.h>

#include <memory>
#include <vector>

#include "base/error.h"
#include "plugin/cuda/check.h"
#include "plugin/cuda/cuda_device_api.h"
#include "plugin/cuda/device_guard.h"
#include "plugin/cuda/handles.h"
#include "plugin/cuda/nccl/nccl.h"

namespace mxnet::cuda {
namespace {

ncclDataType_t nccl_dtype(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return ncclFloat32;
    case DType::kFloat64:
      return ncclFloat64;
    case DType::kFloat16:
      return ncclFloat16;
    case DType::kBFloat16:
      return ncclBfloat16;
    case DType::kUInt8:
      return ncclUint8;
    case DType::kInt8:
      return ncclInt8;
    case DType::kInt32:
      return ncclInt32;
    case DType::kInt64:
      return ncclInt64;
    default:
      throw Error(ErrorCode::kType, "nccl",
                  fmt::format("given type {}, expected a numeric one", dtype_name(dtype)));
  }
}

// Puts the thread's current device back, which NCCL changes. Of the team while NCCL works: it puts
// back itself what it has found, by cudaSetDevice, and so does this, which would make a context on
// a device that the process uses for nothing else.
class DeviceKept {
 public:
  explicit DeviceKept(int of_team) noexcept
      : guard_(of_team, std::nothrow), known_(cudaGetDevice(&device_) == cudaSuccess) {}
  ~DeviceKept() {
    if (known_) cudaSetDevice(device_);
  }
  DeviceKept(const DeviceKept&) = delete;
  DeviceKept& operator=(const DeviceKept&) = delete;

 private:
  const DeviceGuard guard_;  // ends last
  int device_ = 0;
  const bool known_;
};

// What a NativeTeam of this api points to.
struct NcclTeam {
  std::vector<int> devices;
  std::vector<ncclComm_t> communicators;

  explicit NcclTeam(std::span<const int> ordinals)
      : devices(ordinals.begin(), ordinals.end()), communicators(devices.size()) {
    const Nccl& nccl = Nccl::get();
    const DeviceKept kept(devices.front());
    nccl.check(
        nccl.init_all(communicators.data(), static_cast<int>(devices.size()), devices.data()),
        "ncclCommInitAll");
  }
  ~NcclTeam() {
    const DeviceKept kept(devices.front());
    for (const ncclComm_t communicator : communicators) Nccl::get().destroy(communicator);
  }
  NcclTeam(const NcclTeam&) = delete;
  NcclTeam& operator=(const NcclTeam&) = delete;

  static NcclTeam& from(NativeTeam* team) { return *reinterpret_cast<NcclTeam*>(team); }
};

// The calls between its two ends reach all GPUs at once. The end is told even after an error: else
// the thread would never leave the group.
template <class Calls>
void in_group(const Calls& calls) {
  const Nccl& nccl = Nccl::get();
  nccl.check(nccl.group_start(), "ncclGroupStart");
  try {
    calls();
  } catch (...) {
    nccl.group_end();
    throw;
  }
  nccl.check(nccl.group_end(), "ncclGroupEnd");
}

}  // namespace

void CudaDeviceApi::require_collectives() { Nccl::get(); }

NativeTeam* CudaDeviceApi::create_team(std::span<const int> devices) {
  for (const int device : devices) check_device(device);
  const MutexLock lock(waits_for_all_);
  return reinterpret_cast<NativeTeam*>(new NcclTeam(devices));
}

void CudaDeviceApi::destroy_team(NativeTeam* team) noexcept {
  const MutexLock lock(waits_for_all_);
  delete &NcclTeam::from(team);
}

void CudaDeviceApi::run(NativeTeam* native, const CollectiveCall& call,
                        std::span<NativeStream* const> streams) {
  const Nccl& nccl = Nccl::get();
  const NcclTeam& team = NcclTeam::from(native);
  MX_ASSERT(streams.size() == team.devices.size() && call.from.size() == team.devices.size() &&
            call.to.size() == team.devices.size());
  const ncclDataType_t dtype = nccl_dtype(call.dtype);
  const DeviceKept kept(team.devices.front());
  const MutexLock lock(waits_for_all_);
  in_group([&] {
    for (std::size_t i = 0; i < team.devices.size(); ++i) {
      const cudaStream_t stream = stream_of(team.devices[i], streams[i]).handle();
      const ncclComm_t communicator = team.communicators[i];
      const void* from = call.from[i];
      void* to = call.to[i];
      switch (call.kind) {
        case Collective::kSumToAll:
          nccl.check(nccl.all_reduce(from, to, call.count, dtype, ncclSum, communicator, stream),
                     "ncclAllReduce");
          break;
        case Collective::kSumToRoot:
          nccl.check(
              nccl.reduce(from, to, call.count, dtype, ncclSum, call.root, communicator, stream),
              "ncclReduce");
          break;
        case Collective::kCopyFromRoot:
          nccl.check(nccl.broadcast(from, to, call.count, dtype, call.root, communicator, stream),
                     "ncclBroadcast");
          break;
      }
    }
  });
}

}  // namespace mxnet::cuda
