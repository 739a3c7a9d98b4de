// SPDX-License-Identifier: Apache-2.0
// This program has two simulated GPUs of little memory; said before the first use of the
// configuration.
#include <cstdlib>

namespace {
[[maybe_unused]] const int g_sim_gpus = ::setenv("MXNET_SIM_GPUS", "2", 1);
[[maybe_unused]] const int g_memory = ::setenv("MXNET_SIM_GPU_MEMORY_BYTES", "67108864", 1);
}  // namespace
