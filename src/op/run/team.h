// SPDX-License-Identifier: Apache-2.0
// How wide a parallel region is in which not all of the threads have something to do.
#pragma once
#include <omp.h>

#include "base/omp.h"

namespace mxnet {

// For num_threads(...) of a region that has work for `threads`: the calling thread's whole pool,
// of which the others only come and go. GNU OpenMP ends the members of a pool that a region has no
// use for, and makes new ones for the next region, at ten times what it costs: of 64 threads 61
// after each region of three ("Who begins regions" in docs/engine.md).
inline int team_of(int threads) {
  if (threads <= 1) return 1;
  hold_omp_pool();
  return omp_get_max_threads();
}

}  // namespace mxnet
