// SPDX-License-Identifier: Apache-2.0
// The key of one request for random numbers on a GPU: drawn from the device's stream, so that seeds
// and the order of pushes determine it as they do on the CPU.
#pragma once
#include "op/generators/random_streams.h"

namespace mxnet {

inline uint64_t draw_key(Device device) {
  uint32_t words[2];
  RandomStreams::of(device).sequential().fill(words, 2);
  return uint64_t{words[1]} << 32 | words[0];
}

}  // namespace mxnet
