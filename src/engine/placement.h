// SPDX-License-Identifier: Apache-2.0
// Where a ready operation runs: the one thing in which the three engines differ.
#pragma once
#include <array>
#include <memory>

#include "base/config_sections.h"
#include "engine/worker_pool.h"

namespace mxnet::engine {

// Pools of workers; null where there is none.
using Workers = std::array<WorkerPool*, 3>;

// Thread-safe, except join, which requires that no operation is in flight and none can be pushed
// meanwhile.
class Placement {
 public:
  virtual ~Placement() = default;
  // The workers for such an operation, started if need be; null if the thread that makes it ready
  // runs it.
  virtual WorkerPool* pool_for(Device device, FnProperty property) = 0;
  // Whether a cheap CPU operation may run on the pusher's thread although there are workers.
  virtual bool runs_cheap_on_pusher() const = 0;
  // The workers whose operations a waiting thread may run; null if there are none.
  virtual WorkerPool* pool_to_help() = 0;
  // Those that have been started and run what works on such a device.
  virtual Workers workers_of(Device device) = 0;
  // Ends all threads; they come again when they are needed. `cpu_workers`: how many of the CPU
  // workers then.
  virtual void join(int cpu_workers) = 0;
};

std::unique_ptr<Placement> make_caller_placement();
std::unique_ptr<Placement> make_shared_placement(DependencyEngine& engine,
                                                 const EngineConfig& config);
std::unique_ptr<Placement> make_device_placement(DependencyEngine& engine,
                                                 const EngineConfig& config);

}  // namespace mxnet::engine
