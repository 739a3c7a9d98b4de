// SPDX-License-Identifier: Apache-2.0
// Pointwise operators on arrays whose layout has padding.
#pragma once
#include "op/params/parsed_attrs.h"
#include "op/prepared_kernel.h"

namespace mxnet {

// Computes padding as it does elements. Null where padding of zeros would not stay zero, as kernels
// of layouts expect it to. `op`: pointwise; `params` are shared with the graph. All arrays are of
// one type.
PreparedKernelRef prepare_pointwise_in_layout(const OpDef& op, const ParamsPtr& params,
                                              int num_inputs, DType dtype, const LayoutRef& layout);

}  // namespace mxnet
