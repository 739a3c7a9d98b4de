// SPDX-License-Identifier: Apache-2.0
// Work of which each step needs what the one before has done: a block goes through it in rounds.
#pragma once
#include "plugin/cuda/launch.cuh"

#ifndef MX_CUDA_EMULATED  // host_launch.h has it

namespace mxnet {
namespace cuda {

template <class F>
__global__ void __launch_bounds__(kThreads)
    for_each_in_rounds_kernel(int64_t n, const __grid_constant__ F f) {
  for (int64_t i = blockIdx.x; i < n; i += gridDim.x) {
    const int64_t rounds = f.rounds(i);  // before a thread of the block writes anything
    __syncthreads();
    for (int64_t round = 0; round < rounds; ++round) {
      f.round(i, round, static_cast<int>(threadIdx.x), kThreads);
      __syncthreads();
    }
  }
}

// A block of threads for each i: f.round(i, round, lane, lanes) for 0 <= round < f.rounds(i). What
// threads write in one round all threads of the block see in the next; within a round none reads
// what another writes.
template <class F>
void for_each_in_rounds(NativeStream* stream, const char* name, int64_t n, const F& f) {
  if (n <= 0) return;
  const LaunchScope scope(stream);
  for_each_in_rounds_kernel<F>
      <<<scope.blocks(n * kThreads, kThreads), kThreads, 0, scope.stream()>>>(n, f);
  scope.check(name);
}

}  // namespace cuda
}  // namespace mxnet

#endif
