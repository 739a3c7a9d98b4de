// SPDX-License-Identifier: Apache-2.0
// The table of conversions: every type to every type, one loop each.
#include "op/loops/as_type.h"

#include "op/loops/convert.h"
#include "op/loops/number_bulk.h"
#include "op/run/dispatch.h"
#include "op/run/gpu_table.h"
#include "op/run/moved_bytes.h"
#include "op/run/parallel.h"
#include "op/run/primitives.h"

namespace mxnet {
namespace {

template <class From, class To>
void convert_block(const From* from, To* to, int64_t n) {
  if constexpr (kConvertsInBulk<From, To>) {
    convert_numbers(from, to, n);
  } else {
    convert_array(from, to, n);
  }
}

// Whether elements keep their bits: bytes but for those that become bool.
bool keeps_bits(DType from, DType to) {
  return from == to || (dtype_size(from) == 1 && dtype_size(to) == 1 && to != DType::kBool);
}

}  // namespace

void convert_tensor(const Tensor& from, const Tensor& to, KernelContext& context) {
  const auto bytes = static_cast<std::size_t>(to.size()) * dtype_size(to.dtype);
  if (keeps_bits(from.dtype, to.dtype)) return copy_memory(context, from.data, to.data, bytes);
  if (const GpuTable* gpu = gpu_table(context))
    return gpu->convert(context.stream()->native(), from, to);
  // Elements of bool are the 0 and 1 of uint8, and bytes are zero or not.
  const bool as_bytes =
      from.dtype == DType::kBool || (from.dtype == DType::kInt8 && to.dtype == DType::kBool);
  const DType type = as_bytes ? DType::kUInt8 : from.dtype;
  dispatch_dtype<kNumeric>(type, "Cast", [&]<class From>(TypeTag<From>) {
    dispatch_dtype(to.dtype, "Cast", [&]<class To>(TypeTag<To>) {
      parallel_writes(to.as<To>(), from.size(), cost_of_moving(sizeof(From) + sizeof(To)),
                      [&](int64_t first, int64_t last) {
                        convert_block(from.as<From>() + first, to.as<To>() + first, last - first);
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
