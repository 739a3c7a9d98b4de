// SPDX-License-Identifier: Apache-2.0
// How work is spread over a GPU: f(i) for every i, or a group of threads for every i. Kernels are
// function objects, so that everything but these few launches is ordinary code: compiled by g++
// with MX_CUDA_EMULATED, the same files run in the host's memory, where tests have launches of
// their own (tests/plugin/emulated/host_launch.h), on machines without a GPU.
#pragma once
#include <cstdint>

#include "plugin/cuda/launch.h"
#include "plugin/cuda/row_words.h"

#ifdef MX_CUDA_EMULATED
#include "host_launch.h"
#else

namespace mxnet {
namespace cuda {

// Counts in 32 bits, from a 64-bit beginning: half the arithmetic, and one kernel for all sizes.
// Function objects stay where the launch has put them (__grid_constant__): of one whose members are
// chosen by a number each thread would have a copy in its own, slow memory.
template <class F>
__global__ void __launch_bounds__(kThreads)
    for_each_kernel(int64_t first, int32_t n, const __grid_constant__ F f) {
  const int32_t stride = static_cast<int32_t>(gridDim.x) * kThreads;
  for (int32_t i = static_cast<int32_t>(blockIdx.x) * kThreads + static_cast<int32_t>(threadIdx.x);
       i < n; i += stride)
    f(first + i);
}

// f(i) for 0 <= i < n, in any order.
template <class F>
void for_each(NativeStream* stream, const char* name, int64_t n, const F& f) {
  constexpr int64_t kMost = int64_t{1} << 30;  // of a launch: the last step does not overflow
  for (int64_t first = 0; first < n; first += kMost) {
    const int64_t count = n - first < kMost ? n - first : kMost;
    const LaunchScope scope(stream);
    for_each_kernel<F><<<scope.blocks(count, kThreads), kThreads, 0, scope.stream()>>>(
        first, static_cast<int32_t>(count), f);
    scope.check(name);
  }
}

template <class V>
__device__ __forceinline__ V shuffled(V value, int distance) {
  static_assert(sizeof(V) % 4 == 0, "values are moved in words");
  int words[sizeof(V) / 4];
  memcpy(words, &value, sizeof(V));
#pragma unroll
  for (int& word : words) word = __shfl_down_sync(0xffffffffu, word, distance);
  memcpy(&value, words, sizeof(V));
  return value;
}
template <class F, class V>
__device__ __forceinline__ V merged_in_warp(const F& f, V value) {
#pragma unroll
  for (int distance = kWarp / 2; distance > 0; distance /= 2)
    value = f.merge(value, shuffled(value, distance));
  return value;
}

// A warp for each i.
template <class F>
__device__ __forceinline__ void run_warps(int64_t n, const F& f) {
  const int lane = threadIdx.x % kWarp;
  const int64_t stride = static_cast<int64_t>(gridDim.x) * (kThreads / kWarp);
  for (int64_t i = (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) / kWarp; i < n;
       i += stride) {
    const auto value = merged_in_warp(f, f.part(i, lane, kWarp));
    if (lane == 0) f.finish(i, value);
  }
}
// A block for each i.
template <class F>
__device__ __forceinline__ void run_blocks(int64_t n, const F& f) {
  using V = decltype(f.part(int64_t{0}, 0, 1));
  __shared__ alignas(16) unsigned char storage[sizeof(V) * (kThreads / kWarp)];
  V* const of_warps = reinterpret_cast<V*>(storage);
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  for (int64_t i = blockIdx.x; i < n; i += gridDim.x) {
    const V value = merged_in_warp(f, f.part(i, threadIdx.x, kThreads));
    if (lane == 0) of_warps[warp] = value;
    __syncthreads();
    if (threadIdx.x == 0) {
      V all = of_warps[0];
      for (int w = 1; w < kThreads / kWarp; ++w) all = f.merge(all, of_warps[w]);
      f.finish(i, all);
    }
    __syncthreads();
  }
}
template <class F>
__global__ void __launch_bounds__(kThreads)
    for_each_group_kernel(int64_t n, bool wide, const __grid_constant__ F f) {
  if (wide)
    run_blocks(n, f);
  else
    run_warps(n, f);
}

// A group of threads for each i: f.part(i, lane, lanes) is one thread's share, f.merge(a, b) brings
// two shares together (in a fixed order: results repeat), f.finish(i, value) ends it. A group is a
// warp, or, `wide`, a block.
template <class F>
void for_each_group(NativeStream* stream, const char* name, int64_t n, bool wide, const F& f) {
  if (n <= 0) return;
  const LaunchScope scope(stream);
  const unsigned blocks = scope.blocks(n * (wide ? kThreads : kWarp), kThreads);
  for_each_group_kernel<F><<<blocks, kThreads, 0, scope.stream()>>>(n, wide, f);
  scope.check(name);
}

// Host and device, because function objects are: only kernels call it.
template <class T>
MX_DEVICE void atomic_add(T* at, T value) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(T) == 8 && T(1) / T(2) == T(0))  // integers wrap alike with and without sign
    atomicAdd(reinterpret_cast<unsigned long long*>(at), static_cast<unsigned long long>(value));
  else
    atomicAdd(at, value);
#endif
}

}  // namespace cuda
}  // namespace mxnet

#endif
