// SPDX-License-Identifier: Apache-2.0
// Shows that a build works on this machine.
#include <fmt/format.h>

#include "base/config.h"

int main() {
  fmt::print("{}\n", mxnet::config().engine.gpu_copy_nthreads);
  return 0;
}
