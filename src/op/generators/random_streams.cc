// SPDX-License-Identifier: Apache-2.0
// The table of devices' generators, and their seeding.
#include "op/generators/random_streams.h"

#include <map>
#include <memory>

#include "base/config.h"
#include "base/fork_order.h"
#include "base/leaked.h"
#include "base/lock.h"
#include "op/generators/random_key.h"
#include "op/run/plugin_random.h"

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

Mutex& table_mutex() { return table().mutex; }
[[gnu::constructor(kForkOrderArrays)]] void register_handlers() { hold_over_forks<table_mutex>(); }

}  // namespace

RandomStreams::RandomStreams(int copies)
    : var_(Engine::get().new_order_variable()), copies_(static_cast<std::size_t>(copies)) {}

RandomStreams& RandomStreams::of(Device device) {
  Table& all = table();
  const std::pair key = key_of(device);
  {
    const MutexLock lock(all.mutex);
    if (const auto known = all.devices.find(key); known != all.devices.end()) return *known->second;
  }
  // Where two come first, the later one's variable is never used.
  auto made = std::make_unique<RandomStreams>(
      device.is_gpu() ? 1 : config().resource.cpu_parallel_rand_copy);
  const MutexLock lock(all.mutex);
  const auto [at, added] = all.devices.try_emplace(key, made.get());
  if (added) made.release()->reseed(all.seed * kSeedStride, all.seed * kSeedStride);
  return *at->second;
}

void RandomStreams::seed_all(uint32_t seed) {
  // Pushes may wait, for operations that look into the table: without its lock.
  std::vector<RandomStreams*> used;
  {
    Table& all = table();
    const MutexLock lock(all.mutex);
    all.seed = seed;
    for (const auto& [key, streams] : all.devices) used.push_back(streams);
  }
  for (RandomStreams* streams : used) streams->push_reseed(seed * kSeedStride, seed * kSeedStride);
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
  turn_ = 0;
}

// As existing programs know it, the first request after a seeding is the second copy's.
void RandomStreams::take_turn() {
  turn_ = (turn_ + 1) % static_cast<uint32_t>(copies_.size());
  if (copies_[turn_].empty()) copies_[turn_].resize(kStreams);
}

Mt19937& RandomStreams::sequential() { return current(sequential_, sequential_seed_); }

Mt19937& RandomStreams::current(Stream& stream, uint32_t seed) {
  if (stream.epoch != epoch_) {
    stream.engine.seed(seed);
    stream.epoch = epoch_;
  }
  return stream.engine;
}

uint64_t draw_plugin_key(Device device) { return draw_key(device); }

}  // namespace mxnet
