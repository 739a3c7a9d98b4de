// SPDX-License-Identifier: Apache-2.0
// Operators without a kernel for GPUs, called with arrays on one: the CPU's kernel runs on copies.
// Right on every operator, and slow, so it is said once an operator.
#pragma once
#include "exec/run_kernel.h"

namespace mxnet {

// Whether run_kernel() takes this way. Kernels of the simulated device are the CPU's and run there.
bool runs_on_host(const KernelEntry& kernel, Device device);
// From which a kernel draws random numbers: those of `device`, or the host's if it runs there.
Device draws_from(const KernelEntry& kernel, Device device);

// Copies inputs to the host, runs the kernel, copies back what it wrote, and waits for all of it.
// Throws Error(kNotImplemented) while a graph is recorded.
void run_on_host(const KernelCall& call, const RunContext& context);

}  // namespace mxnet
