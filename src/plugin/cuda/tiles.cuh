// SPDX-License-Identifier: Apache-2.0
// Blocks of threads that hand each other what they have read, in memory of the block's own.
#pragma once
#include "plugin/cuda/launch.cuh"

#ifndef MX_CUDA_EMULATED  // host_launch.h has it

namespace mxnet {
namespace cuda {

template <class F>
__global__ void __launch_bounds__(kThreads)
    for_each_tile_kernel(int64_t n, const __grid_constant__ F f) {
  __shared__ typename F::Tile tile;
  for (int64_t i = blockIdx.x; i < n; i += gridDim.x) {
    f.load(i, static_cast<int>(threadIdx.x), &tile);
    __syncthreads();
    f.store(i, static_cast<int>(threadIdx.x), tile);
    __syncthreads();
  }
}

// A block of kThreads threads for each i: all of f.load(i, thread, &tile), then all of
// f.store(i, thread, tile). F::Tile is plain data of at most 48 KiB, and holds nothing at first.
template <class F>
void for_each_tile(NativeStream* stream, const char* name, int64_t n, const F& f) {
  static_assert(sizeof(typename F::Tile) <= 48 * 1024, "more must be asked for");
  if (n <= 0) return;
  const LaunchScope scope(stream);
  for_each_tile_kernel<F>
      <<<scope.blocks(n * kThreads, kThreads), kThreads, 0, scope.stream()>>>(n, f);
  scope.check(name);
}

}  // namespace cuda
}  // namespace mxnet

#endif
