// SPDX-License-Identifier: Apache-2.0
// norm: of absolute values or of squares, over any axes.
#include "op/op_builder.h"
#include "op/params/dense_and_sparse.h"
#include "op/reduce/gradients.h"
#include "op/reducing/evaluate.h"
#include "op/run/gpu.h"

namespace mxnet {
namespace {

AxisChoice choice(const NormParams& params) {
  return {params.axis, params.keepdims, false, AxisStyle::kArray};
}

void infer_norm(const NormParams& params, Infer& infer) {
  if (params.ord != 1 && params.ord != 2)
    infer.fail("given '" + std::to_string(params.ord) + "' for parameter ord, expected 1 or 2");
  if (params.out_dtype != DType::kUnknown) {
    infer.out(0).set_dtype(params.out_dtype);
  } else {
    infer.one_dtype();
  }
  if (infer.in(0).rank_known())
    infer.out(0).set_shape(choice(params).shape(infer.in(0).shape(), "norm"));
}

void norm_cpu(const NormParams& params, KernelContext& context) {
  const Tensor& in = context.in(0);
  const ReduceCall call = params.ord == 1 ? ReduceCall{Reduction::sum_abs}
                                          : ReduceCall{Reduction::sum_squares, Finish::kRoot};
  reduce_to(call, in, choice(params).axes(in.ndim(), "norm"), context.out(0), context);
}

MX_OP(norm, NormParams)
.doc("Norm of order 1 or 2 over axes.")
    .alias("_sparse_norm")
    .input("data", "The input array.")
    .param("ord", &NormParams::ord, 2, "1: sum of absolute values; 2: root of the sum of squares.")
    .param("axis", &NormParams::axis, std::optional<Shape>(),
           "Axes to reduce; all, if none is given.")
    .dtype_param("out_dtype", &NormParams::out_dtype,
                 DTypeSet::of(DType::kFloat16, DType::kFloat32, DType::kFloat64, DType::kInt8,
                              DType::kInt32, DType::kInt64),
                 true, "None", "Type of the result; that of the input, if none is given.")
    .param("keepdims", &NormParams::keepdims, false,
           "Whether reduced axes stay as dimensions of size one.")
    .dtypes(kAllTypes)
    .infer(infer_norm)
    .cpu(norm_cpu)
    .grad([](const NormParams& params, Grad& grad) {
      return params.ord == 1 ? abs_norm_gradient(choice(params), grad)
                             : root_norm_gradient(choice(params), grad);
    });

[[maybe_unused]] const bool portable = mark_portable({"norm"});

}  // namespace
}  // namespace mxnet
