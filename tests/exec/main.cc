// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>

#include "exec/test_operators.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  // Before the configuration is read: gpu(0) and gpu(1) are simulated.
  setenv("MXNET_SIM_GPUS", "2", 1);
  mxnet::complete_test_operators();
  return RUN_ALL_TESTS();
}
