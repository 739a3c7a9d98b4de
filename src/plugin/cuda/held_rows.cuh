// SPDX-License-Identifier: Apache-2.0
// Rows that are read once: a group of threads holds a row in its registers, finds what the elements
// have in common, and uses them.
#pragma once
#include "plugin/cuda/elements.cuh"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/lines.cuh"
#include "plugin/cuda/map.cuh"

namespace mxnet {
namespace cuda {

constexpr int kHeldElements = 16;  // of an array, by a thread
constexpr int64_t kHeldByWarp = kHeldElements * kWarp;
constexpr int64_t kHeldByBlock = kHeldElements * kThreads;

// Threads of a group that holds a row: as few warps as can, so that a device has many rows on their
// way at once.
inline int held_lanes(int64_t length) {
  const int64_t warps = (length + kHeldByWarp - 1) / kHeldByWarp;
  return static_cast<int>(warps < 1 ? 1 : warps) * kWarp;
}

// Whether a group holds rows of T that become rows of Out: computed in float, and together.
template <class T, class Out = T>
inline constexpr bool kMayHold = std::is_same_v<T, Out> && !std::is_same_v<T, double>;
inline bool is_held(const Lines& rows) { return rows.inner == 1 && rows.length <= kHeldByBlock; }

// Rows that are not held are a block's from here on, and shorter ones a warp's.
constexpr int64_t kLongRow = 1024;

// A thread's part of a row whose elements lie together: packs, one of each round of the group.
template <class T>
struct HeldRow {
  static constexpr int kSize = kPackSize<T>;
  static constexpr int kPacks = kHeldElements / kSize;
  Pack<T, kSize> packs[kPacks];

  MX_DEVICE static int first_of(int pack, int lane, int lanes) {
    return (pack * lanes + lane) * kSize;
  }
  // `aligned`: 16 bytes begin at each pack.
  MX_DEVICE void load(const T* row, int length, int lane, int lanes, bool aligned) {
#pragma unroll
    for (int pack = 0; pack < kPacks; ++pack) {
      const int first = first_of(pack, lane, lanes);
      if (first < length)
        packs[pack] = load_pack<kSize>(row, first, length, aligned && first + kSize <= length);
    }
  }
  // fn(place, element in the computed type) for the elements of this thread.
  template <class F>
  MX_DEVICE void each(int length, int lane, int lanes, const F& fn) const {
#pragma unroll
    for (int pack = 0; pack < kPacks; ++pack) {
      const int first = first_of(pack, lane, lanes);
#pragma unroll
      for (int k = 0; k < kSize; ++k)
        if (first + k < length) fn(first + k, widen(packs[pack].values[k]));
    }
  }
  // row[place] = fn(pack, number in it, place), in the computed type.
  template <class F>
  MX_DEVICE static void store(T* row, int length, int lane, int lanes, bool aligned, const F& fn) {
#pragma unroll
    for (int pack = 0; pack < kPacks; ++pack) {
      const int first = first_of(pack, lane, lanes);
      if (first >= length) continue;
      Pack<T, kSize> out;
#pragma unroll
      for (int k = 0; k < kSize; ++k)
        out.values[k] = narrow<T>(fn(pack, k, first + k < length ? first + k : first));
      store_pack(row, first, length, aligned && first + kSize <= length, out);
    }
  }
  MX_DEVICE Compute<T> at(int pack, int k) const { return widen(packs[pack].values[k]); }
};

// Whether packs of rows of `length` in all these arrays begin at 16 bytes.
template <class T, class... Arrays>
bool packs_are_aligned(int64_t length, const Arrays*... arrays) {
  return length % kPackSize<T> == 0 && (is_aligned(arrays) && ...);
}

#ifndef MX_CUDA_EMULATED  // host_launch.h has it

template <class V>
__device__ __forceinline__ V of_first_lane(V value) {
  static_assert(sizeof(V) % 4 == 0, "values are moved in words");
  int words[sizeof(V) / 4];
  memcpy(words, &value, sizeof(V));
#pragma unroll
  for (int& word : words) word = __shfl_sync(0xffffffffu, word, 0);
  memcpy(&value, words, sizeof(V));
  return value;
}
template <class F>
__global__ void __launch_bounds__(kThreads)
    for_each_held_by_warp_kernel(int64_t n, const __grid_constant__ F f) {
  const int lane = threadIdx.x % kWarp;
  const int64_t stride = static_cast<int64_t>(gridDim.x) * (kThreads / kWarp);
  for (int64_t i = (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) / kWarp; i < n;
       i += stride) {
    typename F::Held held;
    const auto part = f.take(i, lane, kWarp, &held);
    f.give(i, lane, kWarp, held, of_first_lane(merged_in_warp(f, part)));
  }
}
template <class F>
__global__ void __launch_bounds__(kThreads)
    for_each_held_by_block_kernel(int64_t n, const __grid_constant__ F f) {
  using V = decltype(f.take(int64_t{0}, 0, 1, static_cast<typename F::Held*>(nullptr)));
  __shared__ alignas(16) unsigned char storage[sizeof(V) * (kThreads / kWarp)];
  V* const of_warps = reinterpret_cast<V*>(storage);
  const int lanes = blockDim.x, lane = threadIdx.x;
  for (int64_t i = blockIdx.x; i < n; i += gridDim.x) {
    typename F::Held held;
    const V value = merged_in_warp(f, f.take(i, lane, lanes, &held));
    if (lane % kWarp == 0) of_warps[lane / kWarp] = value;
    __syncthreads();
    V all = of_warps[0];
    for (int w = 1; w < lanes / kWarp; ++w) all = f.merge(all, of_warps[w]);
    __syncthreads();  // the next row's shares come into the same places
    f.give(i, lane, lanes, held, all);
  }
}

// A group of `lanes` threads for each i, whole warps and at most kThreads: f.take(i, lane, lanes,
// &held) is a thread's share and what it holds, f.merge(a, b) brings shares together as in
// for_each_group, and f.give(i, lane, lanes, held, all) ends it in every thread, when all have
// taken.
template <class F>
void for_each_held(NativeStream* stream, const char* name, int64_t n, int lanes, const F& f) {
  if (n <= 0) return;
  const LaunchScope scope(stream);
  if (lanes == kWarp)
    for_each_held_by_warp_kernel<F>
        <<<scope.blocks(n * kWarp, kThreads), kThreads, 0, scope.stream()>>>(n, f);
  else
    for_each_held_by_block_kernel<F>
        <<<scope.blocks(n * lanes, lanes), lanes, 0, scope.stream()>>>(n, f);
  scope.check(name);
}

#endif

}  // namespace cuda
}  // namespace mxnet
