// SPDX-License-Identifier: Apache-2.0
// As much of CUDA's language as the kernels of the plug-in's five launches are written in, for a
// host: each thread of a block is a thread of the host, so that barriers that are missing, or that
// not all threads come to, show in results, and, under the thread sanitizer, as races.
// CMakeLists.txt writes what stands between <<< and >>> as calls of run().
#pragma once
#include <cuda_runtime_api.h>

#include <array>
#include <atomic>
#include <barrier>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace mxnet::testing::simt {

constexpr int kWarpSize = 32, kMostThreads = 256;

struct Index {
  unsigned x = 0;
};
inline thread_local Index t_thread, t_block;
inline Index g_grid, g_block;

// What the threads of a block wait at. A warp that has to move words does so with all of its lanes:
// who comes alone waits for ever, on a GPU too.
struct Block {
  explicit Block(int threads) : all(threads) {
    for (int warp = 0; warp < threads / kWarpSize; ++warp)
      warps.push_back(std::make_unique<std::barrier<>>(kWarpSize));
  }
  std::barrier<> all;
  std::vector<std::unique_ptr<std::barrier<>>> warps;
  // Words that lanes show each other, in two places by turns: who is a word ahead overwrites none.
  std::array<int, kMostThreads> words[2] = {};
  std::array<int, kMostThreads> moves{};     // that each thread has had a part in
  std::array<int, kMostThreads> barriers{};  // that each thread has come to in this block
};
inline Block* g_running = nullptr;

// Threads that have come to different numbers of barriers, of all launches.
inline std::atomic<int> g_diverged{0};

struct Grid {
  unsigned blocks;
  int threads;
  std::size_t shared_bytes;
  cudaStream_t stream;
};

// Block after block, since there is one memory that they call shared.
template <class... Parameters, class... Arguments>
void run(void (*kernel)(Parameters...), const Grid& grid, const Arguments&... arguments) {
  Block block(grid.threads);
  g_running = &block;
  g_grid.x = grid.blocks;
  g_block.x = static_cast<unsigned>(grid.threads);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < grid.threads; ++t)
      threads.emplace_back([&, t] {
        t_thread.x = static_cast<unsigned>(t);
        for (unsigned b = 0; b < grid.blocks; ++b) {
          t_block.x = b;
          kernel(arguments...);
          block.all.arrive_and_wait();  // all have ended
          if (block.barriers[static_cast<std::size_t>(t)] != block.barriers[0]) ++g_diverged;
          block.all.arrive_and_wait();
        }
      });
  }
  g_running = nullptr;
}

inline void wait_for_block() {
  ++g_running->barriers[t_thread.x];
  g_running->all.arrive_and_wait();
}

// What lane `from` gives.
inline int word_of(int word, unsigned from) {
  const unsigned first = t_thread.x / kWarpSize * kWarpSize;
  auto& words = g_running->words[g_running->moves[t_thread.x]++ % 2];
  words[t_thread.x] = word;
  g_running->warps[first / kWarpSize]->arrive_and_wait();
  return words[first + from];
}
inline int word_down(int word, int distance) {
  const unsigned from = t_thread.x % kWarpSize + static_cast<unsigned>(distance);
  return word_of(word, from < kWarpSize ? from : t_thread.x % kWarpSize);
}

}  // namespace mxnet::testing::simt

// The language. cuda_runtime_api.h has empty words for some of it.
#undef __global__
#undef __device__
#undef __shared__
#undef __launch_bounds__
#undef __grid_constant__
#undef __forceinline__
#define __global__
#define __device__
#define __shared__ static
#define __launch_bounds__(...)
#define __grid_constant__
#define __forceinline__ inline
#define threadIdx (::mxnet::testing::simt::t_thread)
#define blockIdx (::mxnet::testing::simt::t_block)
#define gridDim (::mxnet::testing::simt::g_grid)
#define blockDim (::mxnet::testing::simt::g_block)
#define __syncthreads() ::mxnet::testing::simt::wait_for_block()
#define __shfl_down_sync(mask, word, distance) ::mxnet::testing::simt::word_down(word, distance)
#define __shfl_sync(mask, word, lane) ::mxnet::testing::simt::word_of(word, lane)
