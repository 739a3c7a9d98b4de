// SPDX-License-Identifier: Apache-2.0
// Operators whose results are kept: a plan for inference on a GPU computes them again only when an
// array that they are made of has changed, if all of those are the caller's (exec/kept_results.h).
#pragma once
#include <string_view>

namespace mxnet {

class OpDef;

// Call before main, as MX_OP is; true, for initializers.
bool mark_kept(std::string_view op);
bool keeps_results(const OpDef& op);

}  // namespace mxnet
