// SPDX-License-Identifier: Apache-2.0
// One call: all streams wait for the caller's, and that one for all of them.
#include "kvstore/device_team.h"

#include <algorithm>

#include "base/error.h"

namespace mxnet::kvstore {
namespace {

Collectives& gpu_collectives() {
  Collectives* api = gpu_count() == 0 ? nullptr : collectives(device_api(DeviceType::kGPU));
  if (api != nullptr) return *api;
  throw Error(
      ErrorCode::kNotImplemented, "kvstore",
      "given store type 'nccl', but this process has no GPU that NCCL could use; use 'local' "
      "for arrays in host memory");
}

NativeTeam* make_team(Collectives& api, const std::vector<Device>& gpus) {
  std::vector<int> ordinals;
  ordinals.reserve(gpus.size());
  for (const Device gpu : gpus) ordinals.push_back(gpu.id);
  return api.create_team(ordinals);
}

}  // namespace

void require_collectives() { gpu_collectives().require_collectives(); }

DeviceTeam::DeviceTeam(std::vector<Device> gpus)
    : gpus_(std::move(gpus)), api_(gpu_collectives()), native_(make_team(api_, gpus_)) {
  DeviceApi& api = device_api(DeviceType::kGPU);
  for (const Device gpu : gpus_) {
    members_.push_back(
        {Stream(api, gpu.id, StreamPriority::kHigh), Event(api, gpu.id), Event(api, gpu.id)});
  }
}

DeviceTeam::~DeviceTeam() {
  members_.clear();  // waits for the calls
  api_.destroy_team(native_);
}

std::size_t DeviceTeam::number_of(Device gpu) const {
  return static_cast<std::size_t>(std::find(gpus_.begin(), gpus_.end(), gpu) - gpus_.begin());
}

void DeviceTeam::run(const CollectiveCall& call, Stream& stream) {
  const MutexLock lock(mutex_);
  Event& before = members_[number_of(Device::gpu(stream.device()))].before;
  before.record(stream);
  std::vector<NativeStream*> streams;
  for (Member& member : members_) {
    before.block(member.stream);
    streams.push_back(member.stream.native());
  }
  try {
    api_.run(native_, call, streams);
  } catch (...) {
    // Some GPUs may have begun: the arrays have to live until these are done.
    for (Member& member : members_) member.stream.synchronize();
    throw;
  }
  for (Member& member : members_) {
    member.after.record(member.stream);
    member.after.block(stream);
  }
}

}  // namespace mxnet::kvstore
