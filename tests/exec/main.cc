// SPDX-License-Identifier: Apache-2.0
// Starts the tests with two simulated GPUs, and an engine that runs two operations of the CPU at
// once.
#include <gtest/gtest.h>
#include <omp.h>

#include <cstdlib>

#include "base/omp.h"
#include "exec/view_operators.h"
#include "openmp_under_tsan.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  // Before the configuration is read: gpu(0) and gpu(1) are simulated.
  setenv("MXNET_SIM_GPUS", "2", 1);
  setenv("MXNET_CPU_WORKER_NTHREADS", "2", 1);
  // As the library does when it starts.
  mxnet::set_omp_threads(mxnet::kOpenMpIsSeen ? omp_get_max_threads() : 1);
  mxnet::complete_view_operators();
  return RUN_ALL_TESTS();
}
