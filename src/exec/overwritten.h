// SPDX-License-Identifier: Apache-2.0
// What a run of a graph writes as a whole: what earlier runs have failed with ends there.
#pragma once
#include <span>
#include <vector>

#include "ndarray/ndarray.h"

namespace mxnet {

// Variables of the memory that `written` covers to the last byte, as one array or as views of its
// parts, and in which none of `read` lies. What stays beside a view may be what a failure is about.
std::vector<Var*> overwritten_variables(std::vector<const NDArray*> written,
                                        std::span<const NDArray* const> read);

// Ends what such variables carry when all that was pushed before is done, for who writes them by
// many operations; a run of a plan says so in its own (`OpSpec::fresh`).
void forget_failures(std::vector<const NDArray*> written,
                     std::span<const NDArray* const> read = {});

}  // namespace mxnet
