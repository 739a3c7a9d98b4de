// SPDX-License-Identifier: Apache-2.0
// Shape and size of an array as arrays.
#include <algorithm>

#include "op/op_builder.h"
#include "op/run/primitives.h"
#include "op/run/read_back.h"

namespace mxnet {
namespace {

void write(const Shape& numbers, KernelContext& context) {
  const HostNumbers here(context, numbers.ndim());
  std::copy(numbers.begin(), numbers.end(), here.data());
  copy_memory(context, here.on_device(context, numbers.ndim()), context.out(0).data,
              static_cast<std::size_t>(numbers.ndim()) * sizeof(int64_t));
}

MX_OP(shape_array, NoParams)
.alias("_npx_shape_array")
    .doc("The dimensions of `data`, as int64.")
    .input("data", "The array.")
    .lenient()
    .type_only(0)
    .infer([](const NoParams&, Infer& infer) {
      if (infer.in(0).rank_known()) infer.out(0).set_shape({infer.in(0).ndim()});
      infer.out(0).set_dtype(DType::kInt64);
    })
    .cpu([](const NoParams&, KernelContext& context) { write(context.in(0).shape(), context); })
    .zero_grad();

MX_OP(size_array, NoParams)
.doc("The number of elements of `data`, as int64 of shape (1,).")
    .input("data", "The array.")
    .lenient()
    .type_only(0)
    .infer([](const NoParams&, Infer& infer) {
      infer.out(0).set_shape({1}).set_dtype(DType::kInt64);
    })
    .cpu([](const NoParams&, KernelContext& context) { write({context.in(0).size()}, context); })
    .zero_grad();

[[maybe_unused]] const bool portable = mark_portable_waiting({"shape_array", "size_array"});

}  // namespace
}  // namespace mxnet
