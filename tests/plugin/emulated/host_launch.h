// SPDX-License-Identifier: Apache-2.0
// The launches of plugin/cuda/launch.cuh, rounds.cuh, tiles.cuh and held_rows.cuh on the host, for
// kernels that are compiled with MX_CUDA_EMULATED. Groups and blocks have as many threads as on a
// GPU and bring their shares together in the same order; whose turn it is between two barriers,
// HostSchedule says.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <vector>

#include "host_schedule.h"
#include "plugin/cuda/launch.h"

namespace mxnet::cuda {

// f(i) for 0 <= i < n.
template <class F>
void for_each(NativeStream* stream, const char* name, int64_t n, const F& f) {
  const LaunchScope scope(stream);
  if (n <= 0) return;
  const HostSchedule& schedule = HostSchedule::of_process();
  const Turns turns(schedule, n, mixed(0, name));
  share_turns(schedule, n, [&](int64_t begin, int64_t end) {
    const F own = f;  // a kernel's threads have copies of what they are given
    turns.each(begin, end, [&own](int64_t i) { own(i); });
  });
  scope.check(name);
}

// What the lanes' shares come to, in a GPU's order: in each warp, then of all warps.
template <class F, class V>
V merged_in_group(const F& f, std::vector<V> values) {
  for (std::size_t warp = 0; warp < values.size(); warp += kWarp)
    for (int distance = kWarp / 2; distance > 0; distance /= 2)
      for (int lane = 0; lane < distance; ++lane)
        values[warp + lane] = f.merge(values[warp + lane], values[warp + lane + distance]);
  V all = values[0];
  for (std::size_t warp = kWarp; warp < values.size(); warp += kWarp)
    all = f.merge(all, values[warp]);
  return all;
}

// A group of threads for each i.
template <class F>
void for_each_group(NativeStream* stream, const char* name, int64_t n, bool wide, const F& f) {
  using V = decltype(f.part(int64_t{0}, 0, 1));
  const LaunchScope scope(stream);
  if (n <= 0) return;
  const HostSchedule& schedule = HostSchedule::of_process();
  const int lanes = wide ? kThreads : kWarp;
  const Turns groups(schedule, n, mixed(0, name));
  share_turns(schedule, n, [&](int64_t begin, int64_t end) {
    const F own = f;
    std::vector<std::pair<int64_t, std::vector<V>>> running;  // all shares, and not yet the end
    const auto finish = [&] {
      for (const auto& [i, values] : running) own.finish(i, merged_in_group(own, values));
      running.clear();
    };
    groups.each(begin, end, [&](int64_t i) {
      std::vector<V> values(static_cast<std::size_t>(lanes));
      Turns(schedule, lanes, mixed(static_cast<uint64_t>(i), name))
          .each(0, lanes, [&](int64_t lane) {
            values[static_cast<std::size_t>(lane)] = own.part(i, static_cast<int>(lane), lanes);
          });
      running.emplace_back(i, std::move(values));
      if (std::ssize(running) == schedule.blocks_at_once()) finish();
    });
    finish();
  });
  scope.check(name);
}

// A block of threads for each i, with a barrier behind each round.
template <class F>
void for_each_in_rounds(NativeStream* stream, const char* name, int64_t n, const F& f) {
  struct Block {
    int64_t i, rounds;
  };
  const LaunchScope scope(stream);
  if (n <= 0) return;
  const HostSchedule& schedule = HostSchedule::of_process();
  const Turns blocks(schedule, n, mixed(0, name));
  share_turns(schedule, n, [&](int64_t begin, int64_t end) {
    const F own = f;
    std::vector<Block> running;
    const auto finish = [&] {
      int64_t most = 0;
      for (const Block& block : running) most = std::max(most, block.rounds);
      for (int64_t round = 0; round < most; ++round)
        for (const auto& [i, rounds] : running)
          if (round < rounds)
            Turns(schedule, kThreads,
                  mixed(mixed(static_cast<uint64_t>(i), static_cast<uint64_t>(round)), name))
                .each(0, kThreads, [&own, i = i, round](int64_t lane) {
                  own.round(i, round, static_cast<int>(lane), kThreads);
                });
      running.clear();
    };
    blocks.each(begin, end, [&](int64_t i) {
      running.push_back({i, own.rounds(i)});
      if (std::ssize(running) == schedule.blocks_at_once()) finish();
    });
    finish();
  });
  scope.check(name);
}

// A block of threads for each i, with a barrier between what they load and what they store. What
// none has loaded is poison.
template <class F>
void for_each_tile(NativeStream* stream, const char* name, int64_t n, const F& f) {
  const LaunchScope scope(stream);
  if (n <= 0) return;
  const HostSchedule& schedule = HostSchedule::of_process();
  const Turns tiles(schedule, n, mixed(0, name));
  share_turns(schedule, n, [&](int64_t begin, int64_t end) {
    const F own = f;
    const auto tile = std::make_unique<typename F::Tile>();
    tiles.each(begin, end, [&](int64_t i) {
      const Turns threads(schedule, kThreads, mixed(static_cast<uint64_t>(i), name));
      std::memset(tile.get(), 0xA5, sizeof(*tile));
      threads.each(0, kThreads,
                   [&](int64_t thread) { own.load(i, static_cast<int>(thread), tile.get()); });
      threads.each(0, kThreads,
                   [&](int64_t thread) { own.store(i, static_cast<int>(thread), *tile); });
    });
  });
  scope.check(name);
}

// A group of threads for each i that holds what it has taken.
template <class F>
void for_each_held(NativeStream* stream, const char* name, int64_t n, int lanes, const F& f) {
  using Held = typename F::Held;
  using V = decltype(f.take(int64_t{0}, 0, 1, static_cast<Held*>(nullptr)));
  const LaunchScope scope(stream);
  if (n <= 0) return;
  const HostSchedule& schedule = HostSchedule::of_process();
  const Turns groups(schedule, n, mixed(0, name));
  share_turns(schedule, n, [&](int64_t begin, int64_t end) {
    const F own = f;
    std::vector<Held> held(static_cast<std::size_t>(lanes));
    std::vector<V> values(static_cast<std::size_t>(lanes));
    groups.each(begin, end, [&](int64_t i) {
      const Turns turns(schedule, lanes, mixed(static_cast<uint64_t>(i), name));
      std::memset(static_cast<void*>(held.data()), 0xA5, held.size() * sizeof(Held));
      turns.each(0, lanes, [&](int64_t lane) {
        const auto at = static_cast<std::size_t>(lane);
        values[at] = own.take(i, static_cast<int>(lane), lanes, &held[at]);
      });
      const V all = merged_in_group(own, values);
      turns.each(0, lanes, [&](int64_t lane) {
        own.give(i, static_cast<int>(lane), lanes, held[static_cast<std::size_t>(lane)], all);
      });
    });
  });
  scope.check(name);
}

template <class T>
void atomic_add(T* at, T value) {
  std::atomic_ref<T>(*at).fetch_add(value, std::memory_order_relaxed);
}

}  // namespace mxnet::cuda
