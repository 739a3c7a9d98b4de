// SPDX-License-Identifier: Apache-2.0
// Steps of a plan for inference that run on a few images after the other instead of on all at once:
// what they hand to each other is then a part as large, and stays in the caches.
#pragma once
#include <vector>

#include "exec/plan.h"

namespace mxnet {

// An equal part of the images that an array of this type has.
ArrayType part_of(const ArrayType& whole, int parts);

// Which of the steps take turns. Each of their kernels in `kernels` becomes one for a part. Layers
// whose weights are large beside their images are left out: each turn reads them again.
std::vector<Turns> choose_turns(const IndexedGraph& graph, const std::vector<ArrayType>& types,
                                const Schedule& schedule, const PlanOptions& options,
                                PreparedKernels* kernels);

}  // namespace mxnet
