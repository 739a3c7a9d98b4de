// SPDX-License-Identifier: Apache-2.0
// Which operators are pointwise: those that may run on any part of their arrays by itself, and so
// one after the other on a part that lies in cache.
#pragma once
#include <string_view>

#include "op/op_def.h"

namespace mxnet {

// Declares that the operator computes each element of its one output from the elements at the same
// place of its inputs, or from inputs of one element; that its kernel does so on arrays of any
// shape; and that the output may lie where an input of the same width does. Called by the file that
// defines the operator, before main.
void mark_pointwise(std::string_view op);

// The kernel on the CPU; null for operators that are not pointwise, or that have several kernels to
// choose from.
const KernelEntry* pointwise_kernel(const OpDef& op);

}  // namespace mxnet
