// SPDX-License-Identifier: Apache-2.0
// A wait before, an empty operation that writes behind.
#include "ndarray/host_write.h"

#include <array>

namespace mxnet {

HostWrite::HostWrite(const NDArray& array) : chunk_(array.chunk()) {
  Engine::get().wait_for_var(chunk_->var());
}

// On the host, whatever the device: on a stream it would come after work of other arrays. In a bulk
// it might wait while other threads read.
HostWrite::~HostWrite() {
  try {
    const std::array<Var*, 1> writes{chunk_->var()};
    Engine& engine = Engine::get();
    engine.push([](const RunContext&) {}, {.device = Device::cpu(),
                                           .reads = {},
                                           .writes = writes,
                                           .name = "HostWrite",
                                           .cheap = true});
    engine.flush_bulk();
  } catch (...) {  // no memory: what cannot be counted is not kept
    chunk_->hand_out();
  }
}

}  // namespace mxnet
