// SPDX-License-Identifier: Apache-2.0
// The table of conversions: every type to every type, one loop each.
#include "op/elemwise/as_type.h"

#include "op/convert.h"
#include "op/dispatch.h"
#include "op/gpu_table.h"
#include "op/parallel.h"
#include "op/primitives.h"

namespace mxnet {

void convert_tensor(const Tensor& from, const Tensor& to, KernelContext& context) {
  const auto bytes = static_cast<std::size_t>(to.size()) * dtype_size(to.dtype);
  if (from.dtype == to.dtype) return copy_memory(context, from.data, to.data, bytes);
  if (const GpuTable* gpu = gpu_table(context))
    return gpu->convert(context.stream()->native(), from, to);
  dispatch_dtype(from.dtype, "Cast", [&]<class From>(TypeTag<From>) {
    dispatch_dtype(to.dtype, "Cast", [&]<class To>(TypeTag<To>) {
      parallel_for(from.size(), 1.0, [&](int64_t first, int64_t last) {
        convert_array(from.as<From>() + first, to.as<To>() + first, last - first);
      });
    });
  });
}

Tensor as_type(const Tensor& in, DType dtype, KernelContext& context) {
  if (in.dtype == dtype) return in;
  const auto bytes = static_cast<std::size_t>(in.size()) * dtype_size(dtype);
  const Tensor copy{context.workspace(bytes), in.shape_ptr, dtype};
  convert_tensor(in, copy, context);
  return copy;
}

}  // namespace mxnet
