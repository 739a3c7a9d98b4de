// SPDX-License-Identifier: Apache-2.0
// Seeds of the random number generators.
#include "c_api/guard.h"
#include "mxnet/c_api.h"
#include "op/generators/random_streams.h"

using namespace mxnet;
using namespace mxnet::c_api;

int MXRandomSeed(int seed) {
  return guarded([&] { RandomStreams::seed_all(static_cast<uint32_t>(seed)); });
}

int MXRandomSeedContext(int seed, int dev_type, int dev_id) {
  return guarded([&] {
    RandomStreams::seed_device(checked_device("MXRandomSeedContext", dev_type, dev_id),
                               static_cast<uint32_t>(seed));
  });
}
