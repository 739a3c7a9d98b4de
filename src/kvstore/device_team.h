// SPDX-License-Identifier: Apache-2.0
// Some GPUs with what they need to sum and copy together: NCCL's communicators, and streams on
// which these calls alone run, so that all GPUs meet them in one order.
#pragma once
#include <vector>

#include "base/lock.h"
#include "device/collectives.h"
#include "device/stream.h"

namespace mxnet::kvstore {

// Throws Error(kNotImplemented) that says what is missing for stores of type `nccl` here.
void require_collectives();

// Thread-safe: calls take turns.
class DeviceTeam {
 public:
  explicit DeviceTeam(std::vector<Device> gpus);
  ~DeviceTeam();
  DeviceTeam(const DeviceTeam&) = delete;
  DeviceTeam& operator=(const DeviceTeam&) = delete;

  // In ascending order: that of arrays in a call.
  const std::vector<Device>& gpus() const { return gpus_; }
  std::size_t number_of(Device gpu) const;

  // Between what is on `stream`, of one of the GPUs, and what will be put there.
  void run(const CollectiveCall& call, Stream& stream);

 private:
  // Of one GPU.
  struct Member {
    Stream stream;
    Event before, after;
  };

  const std::vector<Device> gpus_;
  Collectives& api_;
  NativeTeam* const native_;
  Mutex mutex_;
  std::vector<Member> members_ MX_GUARDED_BY(mutex_);
};

}  // namespace mxnet::kvstore
