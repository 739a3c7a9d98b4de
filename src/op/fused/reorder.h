// SPDX-License-Identifier: Apache-2.0
// The step between two layouts of one value. Plans insert it; nobody else makes it.
#pragma once
#include "op/prepared_kernel.h"

namespace mxnet {

inline constexpr const char* kReorderOp = "_sg_onednn_reorder";

PreparedKernelRef prepare_reorder(const Tensor& type, const LayoutRef& from, const LayoutRef& to);
// A conversion of rows of a half type to float32 that lies in `to`. Null where there is none: the
// steps are two then.
PreparedKernelRef prepare_widening(const Tensor& half, const LayoutRef& to);

}  // namespace mxnet
