// SPDX-License-Identifier: Apache-2.0
// Each of the five launches with all of its threads at once (simt.h): who has which work, whose
// shares meet in which order, and that threads wait for each other wherever one reads what another
// writes. Two blocks go through all work, so that a block's memory is used again and again.
#include "simt.h"
#include "tests/plugin/emulated/host_math.h"
// After the language that they are written in.
#include "plugin/cuda/held_rows.cuh"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/rounds.cuh"
#include "plugin/cuda/tiles.cuh"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>

#include "device/stream.h"
#include "plugin/cuda/cuda_device_api.h"
#include "tests/plugin/fake_cudart.h"

namespace mxnet::cuda {
namespace {

namespace fake = testing::fake_cuda;
namespace simt = testing::simt;

constexpr int kBlocks = 2;

// Some threads stay behind others, by what is asked for.
void dawdle(int64_t i, int thread) {
  const uint64_t bits = (static_cast<uint64_t>(i) * 257 + static_cast<uint64_t>(thread)) *
                        uint64_t{0x9E3779B97F4A7C15};
  for (uint64_t k = bits >> 61; k > 5; --k) std::this_thread::yield();
}

// The first thread brings the warps' shares together. It is the last to be ready: the other warps
// have long begun with what comes next, if nothing keeps them.
void merge_slowly() {
  if (threadIdx.x == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

class Launches : public ::testing::Test {
 protected:
  Launches() {
    fake::reset();
    fake::set_threads(kBlocks * kThreads / 4);  // of four processors
    stream_ = std::make_unique<Stream>(api(), 0);
    simt::g_diverged = 0;
  }
  ~Launches() override {
    EXPECT_EQ(simt::g_diverged, 0) << "threads have come to different numbers of barriers";
    stream_.reset();
    fake::reset();
  }
  static DeviceApi& api() {
    static CudaDeviceApi* const api = CudaDeviceApi::create().release();
    return *api;
  }
  NativeStream* stream() const { return stream_->native(); }

 private:
  std::unique_ptr<Stream> stream_;
};

struct CountUp {
  std::atomic<int>* seen;
  void operator()(int64_t i) const { ++seen[i]; }
};

TEST_F(Launches, EachElementHasItsTurnOnce) {
  for (const int64_t n : {0, 1, 255, 256, 257, 512, 5000}) {
    std::vector<std::atomic<int>> seen(static_cast<std::size_t>(n + 1));
    for_each(stream(), "count", n, CountUp{seen.data()});
    for (int64_t i = 0; i < n; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], 1) << i;
    EXPECT_EQ(seen[static_cast<std::size_t>(n)], 0);
  }
}

// Numbers one behind the other, as a number to a base: which of two comes first matters.
struct Sequence {
  uint32_t digits, base;
  bool operator==(const Sequence&) const = default;
};
Sequence behind(const Sequence& a, const Sequence& b) {
  return {a.digits * b.base + b.digits, a.base * b.base};
}
Sequence share(int64_t i, int lane) {
  return {static_cast<uint32_t>(i * 1000 + lane), 0x9E3779B9u};
}
// In each warp the nearer half of the lanes takes in the farther one; then the first warp all
// others.
Sequence merged_shares(int64_t i, int lanes) {
  std::vector<Sequence> warps;
  for (int first = 0; first < lanes; first += kWarp) {
    std::vector<Sequence> values;
    for (int lane = 0; lane < kWarp; ++lane) values.push_back(share(i, first + lane));
    for (std::size_t half = kWarp / 2; half > 0; half /= 2)
      for (std::size_t lane = 0; lane < half; ++lane)
        values[lane] = behind(values[lane], values[lane + half]);
    warps.push_back(values[0]);
  }
  return std::accumulate(warps.begin() + 1, warps.end(), warps[0], behind);
}

struct MergeShares {
  Sequence* out;
  int lanes;
  Sequence part(int64_t i, int lane, int of) const {
    EXPECT_EQ(of, lanes);
    dawdle(i, lane);
    return share(i, lane);
  }
  Sequence merge(const Sequence& a, const Sequence& b) const {
    merge_slowly();
    return behind(a, b);
  }
  void finish(int64_t i, const Sequence& value) const { out[i] = value; }
};

TEST_F(Launches, SharesOfAGroupMeetInOneOrder) {
  for (const bool wide : {false, true}) {
    for (const int64_t n : {1, 7, 19}) {
      const int lanes = wide ? kThreads : kWarp;
      std::vector<Sequence> out(static_cast<std::size_t>(n));
      for_each_group(stream(), "merge", n, wide, MergeShares{out.data(), lanes});
      for (int64_t i = 0; i < n; ++i)
        EXPECT_EQ(out[static_cast<std::size_t>(i)], merged_shares(i, lanes)) << i << " of " << n;
    }
  }
}

// In place: what a row's elements have in common is taken from each of them.
struct TakeWhole {
  struct Held {
    int64_t element;
  };
  int64_t* rows;
  Sequence* wholes;
  int lanes;
  Sequence take(int64_t i, int lane, int of, Held* held) const {
    EXPECT_EQ(of, lanes);
    dawdle(i, lane);
    held->element = rows[i * lanes + lane];
    return share(i, lane);
  }
  Sequence merge(const Sequence& a, const Sequence& b) const {
    merge_slowly();
    return behind(a, b);
  }
  void give(int64_t i, int lane, int, const Held& held, const Sequence& whole) const {
    dawdle(i + 1, lane);
    wholes[i * lanes + lane] = whole;
    // Its neighbour's: what is held must have been taken by all before any gives.
    rows[i * lanes + (lane + 1) % lanes] = -held.element;
  }
};

TEST_F(Launches, WhatAGroupHoldsMeetsWhatAllHaveTaken) {
  for (const int lanes : {kWarp, 2 * kWarp, 5 * kWarp, kThreads}) {
    for (const int64_t n : {1, 9}) {
      const auto size = static_cast<std::size_t>(n * lanes);
      std::vector<int64_t> rows(size);
      std::iota(rows.begin(), rows.end(), 1);
      std::vector<Sequence> wholes(size);
      for_each_held(stream(), "take", n, lanes, TakeWhole{rows.data(), wholes.data(), lanes});
      for (int64_t i = 0; i < n; ++i) {
        const Sequence whole = merged_shares(i, lanes);
        for (int lane = 0; lane < lanes; ++lane) {
          const auto at = static_cast<std::size_t>(i * lanes + lane);
          EXPECT_EQ(wholes[at], whole) << "lane " << lane << " of row " << i;
          EXPECT_EQ(rows[at], -(i * lanes + (lane + lanes - 1) % lanes + 1)) << at;
        }
      }
    }
  }
}

// A block's threads hand each other what they have read.
struct TurnTile {
  struct Tile {
    int64_t at[kThreads];
  };
  int64_t* out;
  void load(int64_t i, int thread, Tile* tile) const {
    dawdle(i, thread);
    tile->at[thread] = i * kThreads + thread;
  }
  void store(int64_t i, int thread, const Tile& tile) const {
    dawdle(i + 1, thread);
    out[i * kThreads + thread] = tile.at[kThreads - 1 - thread];
  }
};

TEST_F(Launches, ATileIsLoadedBeforeItIsStoredAndStoredBeforeTheNext) {
  constexpr int64_t kTiles = 33;
  std::vector<int64_t> out(kTiles * kThreads);
  for_each_tile(stream(), "turn", kTiles, TurnTile{out.data()});
  for (int64_t i = 0; i < kTiles; ++i)
    for (int64_t k = 0; k < kThreads; ++k)
      ASSERT_EQ(out[static_cast<std::size_t>(i * kThreads + k)], (i + 1) * kThreads - 1 - k);
}

// Each round adds to a number its neighbour's of the round before. How many rounds there are stands
// where the first of them writes.
struct AddNeighbours {
  int64_t* lines[2];
  int64_t* left;
  int64_t rounds(int64_t i) const {
    dawdle(i, static_cast<int>(threadIdx.x));
    return left[i];
  }
  void round(int64_t i, int64_t round, int lane, int lanes) const {
    if (round == 0 && lane == 0) left[i] = 0;
    dawdle(i + round, lane);
    const int64_t* const from = lines[round % 2] + i * lanes;
    lines[1 - round % 2][i * lanes + lane] = from[lane] + from[(lane + 1) % lanes];
  }
};

TEST_F(Launches, ARoundSeesWhatTheOneBeforeHasWritten) {
  constexpr int64_t kLines = 11;
  std::vector<int64_t> a(kLines * kThreads), b(a.size()), left(kLines), given(kLines);
  std::iota(a.begin(), a.end(), 0);
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = given[i] = static_cast<int64_t>(i) % 5;
  std::vector<int64_t> expected = a;
  for_each_in_rounds(stream(), "add", kLines, AddNeighbours{{a.data(), b.data()}, left.data()});
  for (std::size_t i = 0; i < left.size(); ++i) {
    int64_t* const line = expected.data() + i * kThreads;
    for (int64_t round = 0; round < given[i]; ++round) {
      const int64_t first = line[0];
      for (int k = 0; k + 1 < kThreads; ++k) line[k] += line[k + 1];
      line[kThreads - 1] += first;
    }
    const std::vector<int64_t>& found = given[i] % 2 == 0 ? a : b;
    for (std::size_t k = 0; k < kThreads; ++k)
      ASSERT_EQ(found[i * kThreads + k], line[k]) << "line " << i << " [" << k << "]";
  }
}

}  // namespace
}  // namespace mxnet::cuda
