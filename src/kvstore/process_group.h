// SPDX-License-Identifier: Apache-2.0
// What distributed stores ask of the processes of a job: sums and copies over all of them, by name.
// The plug-in libmxnet_mpi.so implements it.
#pragma once
#include <cstdint>
#include <exception>
#include <functional>
#include <string>

#include "base/dtype.h"

namespace mxnet::kvstore {

enum class CollectiveKind : int32_t { kSum, kBroadcast, kGather, kBarrier };

// All ranks give requests of the same names; in what order they do does not matter, as long as it
// is the same order for each name. `data` must stay until `done` is called.
struct CollectiveRequest {
  CollectiveKind kind = CollectiveKind::kBarrier;
  std::string name;
  // Host memory. kSum: in and out. kBroadcast: in on rank 0, else out. kGather: `count` elements
  // for each rank, its own are in.
  void* data = nullptr;
  int64_t count = 0;  // elements
  DType dtype = DType::kUInt8;
  int priority = 0;  // higher goes earlier among those that all ranks have given
  // Called once, on a thread of the group that must not be kept: null, or what went wrong.
  std::function<void(std::exception_ptr)> done;
};

// Thread-safe.
class ProcessGroup {
 public:
  virtual ~ProcessGroup() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // Fails through `done`: Error(kGeneric) naming the rank where one is lost or has left,
  // Error(kValue) naming both sides where ranks disagree about what a name is.
  virtual void submit(CollectiveRequest request) = 0;
  // Ranks that are known to be gone; after the first one nobody counts further.
  virtual int lost() const = 0;
};

struct ProcessGroupOptions {
  double heartbeat_seconds = 1;  // between signs of life
  double timeout_seconds = 8;    // without one, a rank counts as lost
  // Which small requests travel together depends on when they come, and with it the order of
  // additions among more than two ranks. False: each travels alone.
  bool batches = true;
};

// As exported by the plug-in; the group is never destroyed.
inline constexpr const char* kProcessGroupEntry = "mxnet_process_group";
using ProcessGroupEntry = ProcessGroup* (*)(const ProcessGroupOptions& options);

// The group of this process, joined at the first call. Throws Error(kNotImplemented) that says what
// to install where there is no plug-in.
ProcessGroup& process_group();

// Submits and waits. Throws what the request fails with.
void run_collective(ProcessGroup& group, CollectiveRequest request);

}  // namespace mxnet::kvstore
