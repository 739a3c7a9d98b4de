// SPDX-License-Identifier: Apache-2.0
// Splitting of loops over OpenMP threads, with one static cost model for all kernels: nothing is
// ever timed.
#pragma once
#include <cstdint>

namespace mxnet {

// Threads that are worth their while for `count` items of about `cost` elementary operations each,
// out of `threads`; one below `parallel_size` operations.
int threads_worth(int64_t count, double cost, int64_t parallel_size, int threads);

// The same with the configured size (MXNET_CPU_PARALLEL_SIZE) and cores
// (MXNET_USE_NUM_CORES_OPERATOR_TUNING); 1 inside a parallel region.
int threads_for(int64_t count, double cost = 1.0);

// fn(first, last) over [0, count), in at most threads_for() contiguous parts whose bounds are
// multiples of `align`.
template <class F>
void parallel_for(int64_t count, double cost, const F& fn, int64_t align = 16) {
  const int threads = threads_for(count, cost);
  if (threads <= 1) {
    if (count > 0) fn(int64_t{0}, count);
    return;
  }
  const int64_t part = ((count + threads - 1) / threads + align - 1) / align * align;
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int t = 0; t < threads; ++t) {
    const int64_t first = t * part;
    const int64_t last = first + part < count ? first + part : count;
    if (first < last) fn(first, last);
  }
}

}  // namespace mxnet
