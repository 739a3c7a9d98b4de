// SPDX-License-Identifier: Apache-2.0
// What loops that wait for memory state as their cost to parallel_for.
#pragma once

namespace mxnet {

// Elementary operations that reading and writing `bytes` counts for. With the default size of
// MXNET_CPU_PARALLEL_SIZE a second thread helps with 800 KB or more (docs/memory_kernels.md, "When
// a second thread comes in").
constexpr double cost_of_moving(double bytes) { return 0.25 * bytes; }

}  // namespace mxnet
