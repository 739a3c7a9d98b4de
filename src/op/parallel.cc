// SPDX-License-Identifier: Apache-2.0
// The static cost model behind parallel_for.
#include "op/parallel.h"

#include <omp.h>

#include <algorithm>

namespace mxnet {
namespace {

// One elementary operation is one vectorised load-compute-store of an element, about 0.25 ns; a
// parallel region costs about 5 us, so that fewer items than this are faster alone. TODO-free
// default of MXNET_CPU_PARALLEL_SIZE.
constexpr double kParallelSize = 200000;

}  // namespace

int threads_for(int64_t count, double cost) {
  const double work = static_cast<double>(count) * cost;
  if (work < kParallelSize || omp_in_parallel() != 0) return 1;
  const double useful = work / (kParallelSize / 2);
  return static_cast<int>(std::clamp<double>(useful, 1.0, omp_get_max_threads()));
}

}  // namespace mxnet
