// SPDX-License-Identifier: Apache-2.0
// This program has eight simulated GPUs, and sums on one thread where more would not be seen; said
// before the first use of the configuration.
#include <cstdlib>

#include "openmp_under_tsan.h"

namespace {

[[maybe_unused]] const bool g_said = [] {
  ::setenv("MXNET_SIM_GPUS", "8", 1);
  if (!mxnet::kOpenMpIsSeen) ::setenv("MXNET_KVSTORE_REDUCTION_NTHREADS", "1", 1);
  return true;
}();

}  // namespace
