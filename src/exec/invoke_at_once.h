// SPDX-License-Identifier: Apache-2.0
// Calls of operators whose output shapes depend on values (boolean_mask, unique, nonzero).
#pragma once
#include "exec/invoke.h"

namespace mxnet {

// As invoke(), for an operator that says shape_from_values: waits for the inputs, runs the kernel,
// on this thread and in host memory or on a GPU that has one, whose end it waits for, and gives the
// outputs the shapes that came out. Errors of the kernel are thrown here too. A given output must
// have exactly the shape that comes out.
void invoke_at_once(const OpDef& op, const ParamsPtr& params, InputRefs inputs, OutputRefs outputs,
                    const InvokeOptions& options);

}  // namespace mxnet
