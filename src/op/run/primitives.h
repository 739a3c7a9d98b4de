// SPDX-License-Identifier: Apache-2.0
// What portable kernels do to memory of whichever device the call runs on: see op/run/gpu.h. The
// arithmetic primitives stand with their families: run_binary, convert_tensor, reduce_to.
#pragma once
#include "op/moving/strided_copy.h"
#include "op/run/gpu.h"

namespace mxnet {

// copy_strided() of strided_copy.h.
void copy_strided(KernelContext& context, const StridedPlan& plan, const void* in, void* out,
                  std::size_t element_bytes);
// Nothing where both are the same memory; otherwise they must not overlap.
void copy_memory(KernelContext& context, const void* from, void* to, std::size_t bytes);
void clear_memory(KernelContext& context, void* to, std::size_t bytes);
// Every element becomes `value`, converted as op/loops/convert.h does.
void fill_tensor(KernelContext& context, const Tensor& to, double value);

}  // namespace mxnet
