// SPDX-License-Identifier: Apache-2.0
// Conversion of whole tensors, for Cast and for arguments of mixed types.
#pragma once
#include "op/kernel.h"

namespace mxnet {

// From n elements of one type to as many of another, on the caller's thread; any to any, as
// op/loops/convert.h defines it. REQUIRES of asking for one: the types do not keep their bits.
using ConvertLoop = void (*)(const void* from, void* to, int64_t n);
ConvertLoop convert_loop(DType from, DType to);
// Whether elements keep their bits: bytes but for those that become bool.
bool keeps_bits(DType from, DType to);

// REQUIRES: equal sizes. Any type to any type, as op/loops/convert.h defines it; equal types copy.
// On the device of the call.
void convert_tensor(const Tensor& from, const Tensor& to, KernelContext& context);
// `in` itself where it has the type already, else a copy in the workspace of the call.
Tensor as_type(const Tensor& in, DType dtype, KernelContext& context);

}  // namespace mxnet
