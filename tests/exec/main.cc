// SPDX-License-Identifier: Apache-2.0
// Starts the tests with two simulated GPUs, and an engine that runs two operations of the CPU at
// once.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/omp.h"
#include "exec/view_operators.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  // Before the configuration is read: gpu(0) and gpu(1) are simulated.
  setenv("MXNET_SIM_GPUS", "2", 1);
  setenv("MXNET_CPU_WORKER_NTHREADS", "2", 1);
#ifdef __SANITIZE_THREAD__
  // GNU OpenMP is not instrumented: where its threads begin and end cannot be seen, and all that
  // they do would be a race with the caller's. The engine's own threads are what these tests look
  // at.
  mxnet::set_omp_threads(1);
#endif
  mxnet::complete_view_operators();
  return RUN_ALL_TESTS();
}
