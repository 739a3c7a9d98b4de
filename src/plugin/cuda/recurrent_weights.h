// SPDX-License-Identifier: Apache-2.0
// Packed weights on a GPU that outlive a call, for MXNET_RNN_USE_WEIGHT_CACHE
// (op/rnn/weight_cache.h has the CPU's). They belong to the place where the weights are: nobody
// looks whether the numbers there have changed.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "device/stream.h"
#include "plugin/cuda/dnn/recurrent_layout.h"

namespace mxnet::cuda {

// What tells packed weights apart.
struct PackedWeightsKey {
  int device;
  const void* weights;
  std::size_t bytes;  // of what is packed
  DType dtype;
  std::vector<WeightRun> runs;  // how it is packed
  bool operator==(const PackedWeightsKey&) const = default;
};

// The memory kept for `key`; at its first use `key.bytes` of it, which `pack` fills on `stream`:
// the host waits for that, so that any stream may read it later. Null where nothing is kept and the
// device has no room, or the stream records a graph, which does nothing yet. The memory is there as
// long as the result is held, as work that was put on the device before is under way, and as a
// graph lives that was being recorded. Thread-safe.
std::shared_ptr<const std::byte> kept_on_device(const PackedWeightsKey& key, Stream& stream,
                                                const std::function<void(std::byte*)>& pack);

}  // namespace mxnet::cuda
