// SPDX-License-Identifier: Apache-2.0
// The table of devices' generators, and their seeding.
#include "op/random_streams.h"

#include <map>

#include "base/leaked.h"
#include "base/lock.h"

namespace mxnet {
namespace {

// Consecutive seeds of users lie this far apart, so that their first streams differ.
constexpr uint32_t kSeedStride = 127;

struct Table {
  Mutex mutex;
  std::map<std::pair<int, int>, RandomStreams*> devices MX_GUARDED_BY(mutex);
  uint32_t seed MX_GUARDED_BY(mutex) = 0;  // for devices that come later
};

Table& table() {
  static Leaked<Table> table;
  return *table;
}

std::pair<int, int> key_of(Device device) {
  return device.is_gpu() ? std::pair(1, int{device.id}) : std::pair(0, 0);
}

}  // namespace

RandomStreams::RandomStreams() : var_(Engine::get().new_order_variable()) {}

RandomStreams& RandomStreams::of(Device device) {
  Table& all = table();
  const MutexLock lock(all.mutex);
  RandomStreams*& streams = all.devices[key_of(device)];
  if (streams == nullptr) {
    streams = new RandomStreams();
    streams->reseed(all.seed * kSeedStride, all.seed * kSeedStride);
  }
  return *streams;
}

void RandomStreams::seed_all(uint32_t seed) {
  Table& all = table();
  const MutexLock lock(all.mutex);
  all.seed = seed;
  for (const auto& [key, streams] : all.devices)
    streams->push_reseed(seed * kSeedStride, seed * kSeedStride);
}

void RandomStreams::seed_device(Device device, uint32_t seed) {
  of(device).push_reseed(seed, seed * kSeedStride);
}

void RandomStreams::push_reseed(uint32_t sequential, uint32_t first) {
  Engine::get().push(
      [this, sequential, first](const RunContext&) { reseed(sequential, first); },
      {.device = Device::cpu(), .reads = {}, .writes = {&var_, 1}, .name = "seed", .cheap = true});
}

void RandomStreams::reseed(uint32_t sequential, uint32_t first) {
  ++epoch_;
  sequential_seed_ = sequential;
  first_seed_ = first;
}

Mt19937& RandomStreams::sequential() { return current(sequential_, sequential_seed_); }

Mt19937& RandomStreams::current(Stream& stream, uint32_t seed) {
  if (stream.epoch != epoch_) {
    stream.engine.seed(seed);
    stream.epoch = epoch_;
  }
  return stream.engine;
}

}  // namespace mxnet
