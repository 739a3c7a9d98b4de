// SPDX-License-Identifier: Apache-2.0
// One simulated device: its memory, its streams, and which peers its kernels may reach. Private to
// the simulator.
#pragma once
#include <atomic>
#include <unordered_set>
#include <vector>

#include "base/lock.h"
#include "device/sim/sim_memory.h"
#include "device/sim/sim_stream.h"

namespace mxnet {

// Thread-safe.
struct SimDeviceState {
  SimDeviceState(int ordinal, int count, std::size_t capacity)
      : memory(ordinal, capacity), peers(count) {}

  SimMemory memory;
  // [p]: kernels of this device may touch memory of p. Only ever switched on. Relaxed: work that
  // relies on it is pushed afterwards, and the stream's lock orders the two.
  std::vector<std::atomic<bool>> peers;
  Mutex mutex;  // guards the events of this device too
  std::unordered_set<SimStream*> streams MX_GUARDED_BY(mutex);

  // The points behind all work that the device has been given so far.
  void add_marks(std::vector<SimMark>* marks) {
    MutexLock lock(mutex);
    for (SimStream* stream : streams) marks->push_back(stream->mark());
  }
  // Waits for that work.
  void drain() {
    std::vector<SimMark> marks;
    add_marks(&marks);
    for (const SimMark& mark : marks) mark.await();
  }
};

}  // namespace mxnet
