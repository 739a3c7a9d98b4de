// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "exec/test_operators.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  mxnet::complete_test_operators();
  return RUN_ALL_TESTS();
}
