// SPDX-License-Identifier: Apache-2.0
// Conversion of whole tensors, for Cast and for arguments of mixed types.
#pragma once
#include "op/kernel.h"

namespace mxnet {

// REQUIRES: equal sizes. Any type to any type, as op/loops/convert.h defines it; equal types copy.
// On the device of the call.
void convert_tensor(const Tensor& from, const Tensor& to, KernelContext& context);
// `in` itself where it has the type already, else a copy in the workspace of the call.
Tensor as_type(const Tensor& in, DType dtype, KernelContext& context);

}  // namespace mxnet
