// SPDX-License-Identifier: Apache-2.0
// This program has eight simulated GPUs; said before the first use of the configuration.
#include <cstdlib>

namespace {
[[maybe_unused]] const int g_sim_gpus = ::setenv("MXNET_SIM_GPUS", "8", 1);
}
