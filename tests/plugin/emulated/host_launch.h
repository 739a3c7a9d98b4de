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

// Groups or blocks for 0 <= i < n: run(f, those that go from barrier to barrier together), where
// `f` is a copy of theirs.
template <class F, class Run>
void for_each_together(NativeStream* stream, const char* name, int64_t n, const F& f,
                       const Run& run) {
  const LaunchScope scope(stream);
  if (n <= 0) return;
  const HostSchedule& schedule = HostSchedule::of_process();
  share_turns(schedule, n, [&](int64_t begin, int64_t end) {
    const F own = f;
    Turns(schedule, n, mixed(0, name))
        .each_together(schedule.blocks_at_once(), begin, end,
                       [&](const std::vector<int64_t>& together) { run(own, together); });
  });
  scope.check(name);
}

// fn(lane) for the lanes of group `i`, each once.
template <class Fn>
void each_lane(const char* name, int64_t i, int lanes, const Fn& fn) {
  Turns(HostSchedule::of_process(), lanes, mixed(static_cast<uint64_t>(i), name))
      .each(0, lanes, [&](int64_t lane) { fn(static_cast<int>(lane)); });
}

// A group of threads for each i.
template <class F>
void for_each_group(NativeStream* stream, const char* name, int64_t n, bool wide, const F& f) {
  using V = decltype(f.part(int64_t{0}, 0, 1));
  const int lanes = wide ? kThreads : kWarp;
  for_each_together(stream, name, n, f, [&](const F& own, const std::vector<int64_t>& together) {
    std::vector<std::vector<V>> values(together.size());
    for (std::size_t g = 0; g < together.size(); ++g) {
      values[g].resize(static_cast<std::size_t>(lanes));
      each_lane(name, together[g], lanes, [&](int lane) {
        values[g][static_cast<std::size_t>(lane)] = own.part(together[g], lane, lanes);
      });
    }
    for (std::size_t g = 0; g < together.size(); ++g)
      own.finish(together[g], merged_in_group(own, values[g]));
  });
}

// A block of threads for each i, with a barrier behind each round.
template <class F>
void for_each_in_rounds(NativeStream* stream, const char* name, int64_t n, const F& f) {
  for_each_together(stream, name, n, f, [&](const F& own, const std::vector<int64_t>& together) {
    std::vector<int64_t> rounds;
    for (const int64_t i : together) rounds.push_back(own.rounds(i));
    const int64_t most = *std::max_element(rounds.begin(), rounds.end());
    for (int64_t round = 0; round < most; ++round)
      for (std::size_t g = 0; g < together.size(); ++g)
        if (round < rounds[g])
          Turns(
              HostSchedule::of_process(), kThreads,
              mixed(mixed(static_cast<uint64_t>(together[g]), static_cast<uint64_t>(round)), name))
              .each(0, kThreads, [&](int64_t lane) {
                own.round(together[g], round, static_cast<int>(lane), kThreads);
              });
  });
}

// A block of threads for each i, with a barrier between what they load and what they store. What
// none has loaded is poison.
template <class F>
void for_each_tile(NativeStream* stream, const char* name, int64_t n, const F& f) {
  using Tile = typename F::Tile;
  const auto blocks = static_cast<std::size_t>(HostSchedule::of_process().blocks_at_once());
  for_each_together(stream, name, n, f, [&](const F& own, const std::vector<int64_t>& together) {
    static thread_local std::vector<Tile> tiles;
    tiles.resize(blocks);
    std::memset(static_cast<void*>(tiles.data()), 0xA5, together.size() * sizeof(Tile));
    for (std::size_t g = 0; g < together.size(); ++g)
      each_lane(name, together[g], kThreads,
                [&](int thread) { own.load(together[g], thread, &tiles[g]); });
    for (std::size_t g = 0; g < together.size(); ++g)
      each_lane(name, together[g], kThreads,
                [&](int thread) { own.store(together[g], thread, tiles[g]); });
  });
}

// A group of threads for each i that holds what it has taken.
template <class F>
void for_each_held(NativeStream* stream, const char* name, int64_t n, int lanes, const F& f) {
  using Held = typename F::Held;
  using V = decltype(f.take(int64_t{0}, 0, 1, static_cast<Held*>(nullptr)));
  struct Group {
    std::vector<Held> held;
    std::vector<V> values;
  };
  const auto blocks = static_cast<std::size_t>(HostSchedule::of_process().blocks_at_once());
  for_each_together(stream, name, n, f, [&](const F& own, const std::vector<int64_t>& together) {
    static thread_local std::vector<Group> groups;
    groups.resize(blocks);
    for (std::size_t g = 0; g < together.size(); ++g) {
      auto& [held, values] = groups[g];
      held.resize(static_cast<std::size_t>(lanes));
      values.resize(static_cast<std::size_t>(lanes));
      std::memset(static_cast<void*>(held.data()), 0xA5, held.size() * sizeof(Held));
      each_lane(name, together[g], lanes, [&](int lane) {
        const auto at = static_cast<std::size_t>(lane);
        values[at] = own.take(together[g], lane, lanes, &held[at]);
      });
    }
    for (std::size_t g = 0; g < together.size(); ++g) {
      const V all = merged_in_group(own, groups[g].values);
      each_lane(name, together[g], lanes, [&](int lane) {
        own.give(together[g], lane, lanes, groups[g].held[static_cast<std::size_t>(lane)], all);
      });
    }
  });
}

template <class T>
void atomic_add(T* at, T value) {
  std::atomic_ref<T>(*at).fetch_add(value, std::memory_order_relaxed);
}

}  // namespace mxnet::cuda
