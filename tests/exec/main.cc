// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  // Before the configuration is read: gpu(0) and gpu(1) are simulated.
  setenv("MXNET_SIM_GPUS", "2", 1);
  return RUN_ALL_TESTS();
}
