// SPDX-License-Identifier: Apache-2.0
// Shape and size of an array as arrays.
#include "op/op_builder.h"

namespace mxnet {
namespace {

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
    .cpu([](const NoParams&, KernelContext& context) {
      const Shape& shape = context.in(0).shape();
      std::copy(shape.begin(), shape.end(), context.out(0).as<int64_t>());
    })
    .zero_grad();

MX_OP(size_array, NoParams)
.doc("The number of elements of `data`, as int64 of shape (1,).")
    .input("data", "The array.")
    .lenient()
    .type_only(0)
    .infer([](const NoParams&, Infer& infer) {
      infer.out(0).set_shape({1}).set_dtype(DType::kInt64);
    })
    .cpu([](const NoParams&, KernelContext& context) {
      *context.out(0).as<int64_t>() = context.in(0).size();
    })
    .zero_grad();

}  // namespace
}  // namespace mxnet
