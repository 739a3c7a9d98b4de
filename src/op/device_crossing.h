// SPDX-License-Identifier: Apache-2.0
// Operators whose result may lie on another device than their input: the call carries the input
// over first. A fact beside OpDef, as the portable kernels of gpu.h are: one caller asks for it.
#pragma once
#include <string_view>

#include "op/op_def.h"

namespace mxnet {

// Called by the file that defines the operator, before main; true, for initializers. REQUIRES: one
// input and one output.
bool mark_crossing(std::string_view op);
bool crosses_devices(const OpDef& op);

}  // namespace mxnet
