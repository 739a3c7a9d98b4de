// SPDX-License-Identifier: Apache-2.0
// A fused sum is added to what lies where the result goes.
#pragma once
#include <cstddef>

namespace mxnet {

class KernelContext;

// Brings input 1, the other value of a sum, to the place of output 0, unless the plan lets them
// share it. `bytes`: of the result.
void place_sum(const KernelContext& context, std::size_t bytes);

}  // namespace mxnet
