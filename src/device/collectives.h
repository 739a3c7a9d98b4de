// SPDX-License-Identifier: Apache-2.0
// Sums and copies that several devices do together, as NCCL does them. Not every kind of device has
// them, so it is an interface beside DeviceApi that an api may have as well.
#pragma once
#include <cstddef>
#include <span>

#include "base/dtype.h"
#include "device/device_api.h"

namespace mxnet {

// Foreign handle of some devices that know each other; meaningful only to the api that made it.
struct NativeTeam;

enum class Collective : unsigned char { kSumToAll, kSumToRoot, kCopyFromRoot };

// One array a device, in the order of the team.
struct CollectiveCall {
  Collective kind;
  int root = 0;                       // a position in the team; without meaning for kSumToAll
  DType dtype;                        // a numeric one
  std::size_t count;                  // elements of each array
  std::span<const void* const> from;  // kCopyFromRoot: only the root's is read
  std::span<void* const> to;          // kSumToRoot: only the root's is written; may be `from`
};

class MX_PLUGIN_API Collectives {
 public:
  virtual ~Collectives();

  // Throws Error(kNotImplemented) that says what is missing on this machine.
  virtual void require_collectives() = 0;
  // REQUIRES: at least one device, each once.
  virtual NativeTeam* create_team(std::span<const int> devices) = 0;
  // REQUIRES: no call of it is under way.
  virtual void destroy_team(NativeTeam* team) noexcept = 0;
  // Puts the call on `streams`, one a device. One thread at a time for a team, and always the same
  // streams, so that all devices meet the calls in one order.
  virtual void run(NativeTeam* team, const CollectiveCall& call,
                   std::span<NativeStream* const> streams) = 0;
};

// Null for devices that have none.
Collectives* collectives(DeviceApi& api);

}  // namespace mxnet
