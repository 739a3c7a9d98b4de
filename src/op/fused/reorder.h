// SPDX-License-Identifier: Apache-2.0
// The step between two layouts of one value. Plans insert it; nobody else makes it.
#pragma once
#include "op/prepared_kernel.h"

namespace mxnet {

inline constexpr const char* kReorderOp = "_sg_onednn_reorder";

PreparedKernelRef prepare_reorder(const Tensor& type, const LayoutRef& from, const LayoutRef& to);

}  // namespace mxnet
